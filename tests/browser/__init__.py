"""`make browser`: pages in headless Chromium."""
