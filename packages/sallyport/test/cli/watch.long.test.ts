import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { nextLine, serving, shutProxy } from './reloading.ts'

t.test('watch: swaps of ..data, as Kubernetes makes them', async (t) => {
  const { folder, text } = shutProxy(t, { watch: true })
  const mount = join(folder, 'mount')
  const publish = (name: string, content: string): void => {
    mkdirSync(join(mount, name), { recursive: true })
    writeFileSync(join(mount, name, 'sallyport.yaml'), content)
    symlinkSync(name, join(mount, '..data_tmp'))
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  publish('..2026_1', text)
  const config = join(mount, 'sallyport.yaml')
  symlinkSync('..data/sallyport.yaml', config)
  const { proxy, status } = await serving(t, config)
  t.match(await nextLine(proxy, () => publish('..2026_2', `${text}mode: monitor\n`)), /reloaded: mode applied/)
  t.not(await status(), 403)
  rmSync(join(mount, '..2026_1'), { recursive: true })
  t.match(await nextLine(proxy, () => publish('..2026_3', text)), /reloaded: mode applied/)
  t.equal(await status(), 403)
})

t.test('watch: targets of links, renames of editors, a folder that goes and comes back', async (t) => {
  const { folder, text } = shutProxy(t, { watch: true })
  const [place, link] = [join(folder, 'etc'), join(folder, 'link.yaml')]
  mkdirSync(place)
  const target = join(place, 'real.yaml')
  writeFileSync(target, text)
  symlinkSync(target, link)
  const { proxy, status } = await serving(t, link)
  const changes: readonly (readonly [string, () => void])[] = [
    ['in place', () => writeFileSync(target, `${text}mode: monitor\n`)],
    ['by a rename', () => writeFileSync(`${target}.new`, text) ?? renameSync(`${target}.new`, target)],
    [
      'as vim does',
      () => {
        renameSync(target, `${target}~`)
        writeFileSync(target, `${text}mode: monitor\n`)
        rmSync(`${target}~`)
      },
    ],
  ]
  for (const [how, change] of changes) t.match(await nextLine(proxy, change), /reloaded: mode applied/, how)

  renameSync(dirname(target), `${place}.away`)
  await proxy.says('does not exist. The configuration in force stays')
  t.not(await status(), 403, 'it stays as it is')
  mkdirSync(place)
  t.match(await nextLine(proxy, () => writeFileSync(target, text)), /reloaded: mode applied/)
  await proxy.says('watch: the configuration is readable again')
  t.equal(await status(), 403)
  t.match(await nextLine(proxy, () => writeFileSync(target, '')), /configuration unchanged: .*has no keys/)
  t.equal(proxy.err().match(/watch: \S+ does not exist/g)?.length, 1, 'said once')
})
