import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeFolder, placeFault, readFault, readWhole } from '#files'

const NO_PROC = process.platform === 'linux' && existsSync('/proc/self') ? false : 'no /proc on this machine'

t.test('a folder is made with those above it, once, with its mode', async (t) => {
  const root = t.testdir({ file: '' })
  const deep = join(root, 'a', 'b', 'c')
  makeFolder(deep, 0o700)
  t.equal(statSync(deep).mode & 0o777, 0o700)
  t.equal(statSync(join(root, 'a')).mode & 0o777, 0o700)
  makeFolder(deep)
  t.equal(statSync(deep).mode & 0o777, 0o700, 'one that is there stays as it is')
  t.throws(() => makeFolder(join(root, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(join(root, 'file', 'x')), { code: 'ENOTDIR' })
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling'))
  t.throws(() => makeFolder(join(root, 'dangling', 'x')), { code: 'EEXIST' })
  symlinkSync(join(root, 'a'), join(root, 'link'))
  makeFolder(join(root, 'link', 'd'))
  t.ok(statSync(join(root, 'a', 'd')).isDirectory())
})

t.test('where the kernel keeps its own files nothing is tried', { skip: NO_PROC }, async (t) => {
  const refused = ['/proc/sallyport', '/proc/sallyport/a/b', '/proc/self/x', '/proc/1/fd/x/y', '/proc/sys/kernel/x/y']
  for (const path of [...refused, '/sys/x/y', '/sys/fs/cgroup/x', '/dev/x', '/dev/pts/x/y']) {
    t.match(placeFault(path), /^is (in a file system of the kernel|in \/dev, which is for devices)$/, path)
    t.throws(() => makeFolder(path), { code: 'data_dir_unusable', message: new RegExp(`^${path} is `) }, path)
    t.notOk(existsSync(path))
  }
  const root = t.testdir()
  symlinkSync('/proc', join(root, 'link'))
  t.match(placeFault(join(root, 'link', 'x', 'y')), 'of the kernel', 'a link is followed')
  t.match(placeFault('/proc/sys/kernel/hostname'), 'of the kernel', 'what is there is no file of ours either')
  for (const path of [devNull, '/dev/stdout', '/proc/self/fd/2', join(root, 'x'), '/dev/shm/sallyport']) {
    if (path !== '/dev/shm/sallyport' || existsSync('/dev/shm')) t.equal(placeFault(path), undefined, path)
  }
})

t.test('a file is read whole, and what would be read for ever is not begun', async (t) => {
  const root = t.testdir({ file: 'text' })
  t.equal(readWhole(join(root, 'file')), 'text')
  t.throws(() => readWhole(root), { message: 'is a folder' })
  t.throws(() => readWhole(join(root, 'none')), { message: 'does not exist' })
  t.throws(() => readWhole(join(root, 'file', 'x')), { message: 'does not exist' })
  if (existsSync('/dev/zero')) t.throws(() => readWhole('/dev/zero'), { message: 'is not a regular file' })
})

t.test('a file of the kernel is not read, and what its links lead to is', { skip: NO_PROC }, async (t) => {
  const root = t.testdir({ file: 'text' })
  symlinkSync('/proc/version', join(root, 'link'))
  // The first would be waited for.
  for (const path of ['/proc/kmsg', '/proc/version', '/proc/self/environ', join(root, 'link')]) {
    if (!existsSync(path)) continue
    t.equal(readFault(path), 'is in a file system of the kernel', path)
    t.throws(() => readWhole(path), { message: 'is in a file system of the kernel' })
  }
  const open = openSync(join(root, 'file'), 'r')
  t.equal(readWhole(`/proc/self/fd/${open}`), 'text')
  closeSync(open)
  t.equal(readFault(join(root, 'none')), undefined)
  t.equal(readFault(root), 'is a folder')
})

t.test('a folder that another process makes at the same time is no fault', async (t) => {
  const root = t.testdir()
  for (let time = 0; time < 20; time++) {
    const path = join(root, 'a', 'b')
    makeFolder(path)
    rmSync(join(root, 'a'), { recursive: true })
    mkdirSync(join(root, 'a'))
    makeFolder(path)
    writeFileSync(join(path, 'x'), '')
    rmSync(join(root, 'a'), { recursive: true })
  }
  t.notOk(existsSync(join(root, 'a')))
})
