"""From intermediate tables to answers, one module and its `.sql` files per table."""
