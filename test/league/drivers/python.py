"""Reads a job a line, requests its pages with the client that the first argument names, and writes a line for each job."""
import asyncio
import json
import ssl
import sys
import urllib.error
import urllib.request

tool = sys.argv[1]


def urls(job):
    return [f"{job['base']}/page/{number}" for number in range(1, job["count"] + 1)]


def run_requests(job):
    import requests

    with requests.Session() as session:
        for url in urls(job):
            session.get(url, headers=dict(job["headers"]))


def run_httpx(job):
    import httpx

    with httpx.Client(verify=job["ca"], follow_redirects=True) as client:
        for url in urls(job):
            client.get(url, headers=job["headers"])


def run_aiohttp(job):
    import aiohttp

    async def run():
        context = ssl.create_default_context(cafile=job["ca"])
        async with aiohttp.ClientSession() as session:
            for url in urls(job):
                async with session.get(url, headers=job["headers"], ssl=context) as response:
                    await response.read()

    asyncio.run(run())


def run_urllib(job):
    for url in urls(job):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=dict(job["headers"]))) as response:
                response.read()
        except urllib.error.HTTPError as error:
            error.read()


def serve_scrapy():
    """One reactor serves all jobs: Twisted starts it once in a process."""
    import scrapy
    from scrapy.crawler import CrawlerRunner
    from twisted.internet import defer, reactor, threads

    class Pages(scrapy.Spider):
        name = "pages"
        handle_httpstatus_all = True

        def start_requests(self):
            for url in urls(self.job):
                yield scrapy.Request(url, headers=dict(self.job["headers"]), dont_filter=True)

        def parse(self, response):
            pass

    @defer.inlineCallbacks
    def serve():
        while line := (yield threads.deferToThread(sys.stdin.readline)):
            runner = CrawlerRunner({"LOG_ENABLED": False, "RETRY_ENABLED": False, "TELNETCONSOLE_ENABLED": False})
            yield runner.crawl(Pages, job=json.loads(line))
            print("done", flush=True)
        reactor.stop()

    reactor.callWhenRunning(serve)
    reactor.run()


if tool == "scrapy":
    serve_scrapy()
else:
    run = {"requests": run_requests, "httpx": run_httpx, "aiohttp": run_aiohttp, "urllib": run_urllib}[tool]
    for line in sys.stdin:
        try:
            run(json.loads(line))
            print("done", flush=True)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", flush=True)
