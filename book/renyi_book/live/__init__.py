"""What each explorable shows when its page opens: data, still picture, words and numbers.

One module for each folder of ``book/explorables``. Its `content` gives the arguments of
`renyi_book.explorables.explorable`, or its `show` calls it. The numbers come from `renyi_lib`, so
that the page is right before any script runs; the browser tests compare the scripts with them.
"""
