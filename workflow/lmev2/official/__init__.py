"""The benchmark's own language: official run folders in and out, and the leaderboard's package."""
