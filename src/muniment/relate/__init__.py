"""What already covers a text (G11): `text` makes terms, `rank` orders and judges, `index` keeps the cache."""
