import { z } from 'zod'
import { File, HTTP, key, LIVE } from '#settings'

const Robots = z.strictObject({
  serve: key(z.boolean().default(false), 'Whether the proxy serves /robots.txt instead of the origin', true),
  file: key(
    File.optional(),
    "The site's own robots.txt, which rules also read; absent: fetched from the origins",
    './public/robots.txt',
  ),
  sitemaps: key(z.array(z.url(HTTP)).default([]), 'Sitemap URLs in robots.txt', ['https://shop.example/sitemap.xml']),
})

export const keys = {
  robots: Robots.prefault({}).meta({ description: 'robots.txt generated from the policy', ...LIVE }),
}
