#!/usr/bin/env bash
# Starts a Slurm cluster of one node on this machine, for tests/integration/test_slurm.py (Debian or Ubuntu, as root).
#
#   tests/setup_slurm.sh          install what is missing, start it, wait until it answers
#   tests/setup_slurm.sh stop     end what was started, by process id
#
# Configuration, state and logs lie in build/slurm. Slurm's programs look for /etc/slurm/slurm.conf, which
# becomes a link to it; an existing one is left alone, and nothing is started.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/slurm
# In jobs the plugin drops SLURM_CONF from the environment, so the link is needed.
link=/etc/slurm/slurm.conf

if [ "${1:-start}" = stop ]; then
    for name in slurmd slurmctld munged; do
        [ -s "$folder/$name.pid" ] && kill "$(cat "$folder/$name.pid")" || true
    done
    [ "$(readlink $link)" = "$folder/slurm.conf" ] && rm $link
    exit
fi

if [ -e $link ] && [ "$(readlink $link)" != "$folder/slurm.conf" ]; then
    echo "$link exists: this machine has a Slurm configuration already" >&2
    exit 1
fi
command -v slurmctld slurmd munged sbatch > /dev/null || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends slurm-wlm munge
}
mkdir -p "$folder"/{state,spool} /etc/slurm /run/munge
host=$(hostname -s)
cat > "$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
# Containers often forbid control groups: process groups follow jobs, and memory is watched by sampling.
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
# No accounting database: sacct does not work, and squeue must remember jobs that have ended.
AccountingStorageType=accounting_storage/none
MinJobAge=600
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdPidFile=$folder/slurmd.pid
SlurmdLogFile=$folder/slurmd.log
SlurmdSpoolDir=$folder/spool
StateSaveLocation=$folder/state
ReturnToService=2
MailProg=/bin/true
# More than there is: jobs ask for what the released dataset takes, and several shall run side by side here, too.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES DefaultTime=60 MaxTime=INFINITE State=UP
CONF
ln -sfn "$folder/slurm.conf" $link

runs() { [ -s "$folder/$1.pid" ] && kill -0 "$(cat "$folder/$1.pid")" 2> /dev/null; }

chown munge:munge /run/munge
munge -n > /dev/null 2>&1 || runuser -u munge -- /usr/sbin/munged
cp /run/munge/munged.pid "$folder/munged.pid"
runs slurmctld || slurmctld
runs slurmd || slurmd
for _ in $(seq 30); do
    sinfo --noheader --states=idle,mixed,allocated 2> /dev/null | grep -q . && exec sinfo
    sleep 1
done
echo "Slurm does not answer: see $folder/*.log" >&2
exit 1
