import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { readConfig } from '@sallyport/engine'
import t from 'tap'
import { Crew } from '../../src/cli/workers/crew.ts'
import { openWorkersSinks } from '../../src/cli/workers/events.ts'
import { until } from './command.ts'

t.test('the primary keeps nothing of a worker that was killed while a connection was on its way to it', async (t) => {
  cluster.setupPrimary({ exec: join(import.meta.dirname, 'taking-worker.js'), args: [] })
  const serving = new Map<Worker, number>()
  cluster.on('listening', (worker, { port }) => serving.set(worker, port))
  const config = readConfig({})
  const said: string[] = []
  const say = (line: string): void => void said.push(line)
  const sinks = openWorkersSinks(config, say)
  const crew = new Crew(2, config, say, sinks)
  t.teardown(async () => {
    await crew.stop('SIGKILL')
    await sinks.close()
    cluster.removeAllListeners('listening')
  })
  crew.fill()
  await until(() => serving.size === 2)
  const [[stopped, port]] = [...serving] as [[Worker, number]]

  stopped.process.kill('SIGSTOP')
  let ended = 0
  const sockets = Array.from({ length: 4 }, () =>
    connect(port, '127.0.0.1')
      .resume()
      .on('error', () => {})
      .on('close', () => ended++),
  )
  await until(() => ended === 3)
  const exited = once(stopped, 'exit')
  stopped.process.kill('SIGKILL')
  await exited
  await until(() => ended === sockets.length)
  await until(() => serving.size === 3)
  t.match(said, [/ended \(SIGKILL\); starting another/])
  await until(() => stopped.listenerCount('message') === 0 && stopped.listenerCount('exit') === 0)
  t.pass('what listened to it, and held its configuration and counts, has gone')
})
