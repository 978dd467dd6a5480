// The entry of the page's scripts.
