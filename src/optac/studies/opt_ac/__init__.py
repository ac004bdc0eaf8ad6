"""What Opt-AC's practical preset does."""
