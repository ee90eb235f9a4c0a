import { join } from 'node:path'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import t from 'tap'
import { NO_SOURCES } from './made-sources.ts'
import { openService } from './opened.ts'
import { requestFrom } from './requests.ts'

/** Nothing speaks against it: the preset's mark would be the mount's action too. */
const LYNX = ['Host', 'a.example', 'User-Agent', 'Lynx/2.9.2', 'Accept-Language', 'en']

t.test('a decision is a span where an SDK is registered, also after the service, and nothing before', async (t) => {
  const sallyport = await openService(t, {
    dataDir: join(t.testdir(), 'state'),
    data: { refresh: false, city: false, sources: NO_SOURCES },
    policy: { preset: 'observe', rules: [{ id: 'all', match: {}, action: 'flag' }] },
  })
  const exporter = new InMemorySpanExporter()
  sallyport.decide({ ...requestFrom('8.1.0.1', LYNX), id: 'before' })
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  t.teardown(() => trace.disable())
  const decision = sallyport.decide({ ...requestFrom('8.1.0.1', LYNX), id: 'after' })
  t.equal(decision.action, 'flag')
  sallyport.decider({ policy: [] }).decide({ ...requestFrom('8.1.0.1', LYNX), id: 'of a mount' })
  const spans = exporter.getFinishedSpans()
  t.same(
    spans.map(({ name, attributes }) => [name, attributes['sallyport.request_id'], attributes['sallyport.action']]),
    [
      ['sallyport.decide', 'after', 'flag'],
      ['sallyport.decide', 'of a mount', 'allow'],
    ],
  )
  t.match(spans[0]?.attributes, {
    'sallyport.rule': 'all',
    'sallyport.class': decision.inspection.agent.class,
    'sallyport.bot_probability': decision.inspection.agent.botProbability,
    'sallyport.network_class': 'unknown',
  })
})
