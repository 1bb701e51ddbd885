"""From staging to intermediate tables, one module and its `.sql` files per table."""
