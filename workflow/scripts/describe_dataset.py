"""Write Table 1 and draw Figures 2 and 3: the dataset itself."""

from lmev2.haystack.measures import measure_haystacks
from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.report.dataset_figures import plot_figure2, plot_figure3, write_table1

with Job(snakemake, "report dataset") as job:
    source = Source(**job.params["source"])
    given, out = snakemake.input, snakemake.output
    haystacks = dict(zip(job.params["tiers"], given.haystacks, strict=True))
    sizes = measure_haystacks(given.questions, given.trajectories, given.states, given.coverage, haystacks)
    write_table1(given.questions, sizes, out.table1, source=source)
    plot_figure2(given.questions, out.figure2_csv, out.figure2_png, out.figure2_pdf, source=source)
    plot_figure3(sizes, out.figure3_csv, out.figure3_png, out.figure3_pdf, source=source)
    job.meta()
