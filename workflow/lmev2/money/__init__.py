"""What model calls cost: before they are made (estimate), while (budget) and after (cost)."""
