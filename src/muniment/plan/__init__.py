"""The rolling plan, a view of the state's open items (S13, S14).

`document` is the page as text, `reconcile` decides what it shows, `rotate` where a foreign page goes;
`service` acts.
"""
