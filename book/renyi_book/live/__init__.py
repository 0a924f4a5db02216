"""Opening state of each explorable, with its data, still picture, text and numbers.

There is one module for each folder of ``book/explorables``. Its `content` returns the arguments of
`renyi_book.explorables.explorable`, or its `show` shows the explorable. The numbers come from
`renyi_lib`, so the page is correct before any script runs; the browser tests compare the scripts'
numbers with them.
"""
