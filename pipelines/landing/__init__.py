"""Landing: find export files, read each once, and write what they say as staging parts."""
