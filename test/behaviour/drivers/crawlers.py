"""Crawls a site with Python's crawlers: the tool, the first page, and the number of pages at the most, with another user agent if one is given."""
import re
import sys
from urllib.parse import urljoin

tool, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3])


def browse(read):
    found, seen = [first], set()
    while found and len(seen) < count:
        url = found.pop(0)
        if url in seen:
            continue
        seen.add(url)
        found += [urljoin(first, path) for path in re.findall(r'href="(/[^"#.]*(?:\.html)?)"', read(url))]


if tool == "mechanize":
    import mechanize

    browser = mechanize.Browser()
    browser.set_handle_robots(False)
    browse(lambda url: browser.open(url).read().decode("utf8", "replace"))
elif tool == "selenium":
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]:
        options.add_argument(flag)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def read(url):
        driver.get(url)
        return driver.page_source

    browse(read)
    driver.quit()
else:
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import CrawlSpider, Rule

    class Pages(CrawlSpider):
        name = "pages"
        start_urls = [first]
        rules = [Rule(LinkExtractor(), follow=True)]

    settings = {"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "CLOSESPIDER_PAGECOUNT": count}
    if len(sys.argv) > 4:
        settings["USER_AGENT"] = sys.argv[4]
    process = CrawlerProcess(settings)
    process.crawl(Pages)
    process.start()
