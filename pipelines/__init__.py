"""Everything that touches the world: settings, storage, landing, Dagster, catalogue, commands."""
