import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readConfigFrom } from '@sallyport/engine'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { VERDICT_NAMES } from '@sallyport/node/internal'
import t from 'tap'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { ROOT } from '../workspaces.ts'

/* No cluster runs here: manifests are read, and held to the configuration and to each other. */
const FOLDER = join(ROOT, 'examples/kubernetes')
const BASE = join(FOLDER, 'base')
const CHART = join(FOLDER, 'chart')
const readText = (...path: readonly string[]): string => readFileSync(join(FOLDER, ...path), 'utf8')

interface Container {
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[] | undefined
  readonly securityContext: object
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly [probe: string]: unknown
}

/** A manifest of any kind, as far as it is looked at. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> | undefined }
  /** Each kind has another shape. */
  readonly spec?: ReturnType<typeof parse> | undefined
  readonly data?: Readonly<Record<string, string>> | undefined
}

function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { strict: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS()
  })
}

/** The versions in which the kinds are served that are used here. */
const KINDS: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  Service: 'v1',
  ConfigMap: 'v1',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  Ingress: 'networking.k8s.io/v1',
  HTTPRoute: 'gateway.networking.k8s.io/v1',
}

const find = (manifests: readonly Manifest[], kind: string): Manifest =>
  manifests.find((one) => one.kind === kind) as Manifest

const WAYS_IN = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'))
const RESOURCES: readonly string[] = parse(readText('base/kustomization.yaml')).resources
const OF_BASE = RESOURCES.flatMap((name) => parseManifests(readText('base', name)))

t.test('every manifest is of a kind that is served', async (t) => {
  const all = [...OF_BASE, ...WAYS_IN.flatMap((name) => parseManifests(readText(name)))]
  t.ok(all.length > 6)
  for (const { apiVersion, kind, metadata } of all) t.equal(apiVersion, KINDS[kind], `${kind} ${metadata.name}`)
})

/** Faults between the manifests of a gate and its configuration. */
function listFaults(manifests: readonly Manifest[], file: string): readonly string[] {
  const wrong: string[] = []
  const hold = (holds: boolean, what: string): void => void (holds || wrong.push(what))
  const of = (kind: string): Manifest => find(manifests, kind)
  const { config, warnings } = readConfigFrom({ file, env: {} })
  hold(warnings.length === 0, warnings.join())

  const { template, selector } = of('Deployment').spec
  const { labels } = template.metadata
  const pod = template.spec
  const [gate, ...others] = pod.containers as readonly Container[]
  if (gate === undefined || others.length > 0) return ['one container']
  const ports = gate.ports ?? []
  const findPort = (name: unknown) => ports.find((port) => port.name === name)?.containerPort
  const portIn = (address = '') => Number(address.split(':').at(-1))
  hold(findPort('http') === portIn(config.listen), 'listen')
  hold(findPort('admin') === portIn(config.admin), 'admin')
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    const { path, port } = (gate[probe] as { httpGet: { path: string; port: string } }).httpGet
    hold(path === '/healthz' || config.adminOpen.some((open) => `/${open}` === path), `${probe} needs a token`)
    hold(port === 'admin', `${probe} asks another port`)
  }
  const selectors = [selector, of('PodDisruptionBudget').spec.selector, of('NetworkPolicy').spec.podSelector]
  for (const { matchLabels } of [...selectors, { matchLabels: of('Service').spec.selector }]) {
    hold(Object.keys(matchLabels ?? {}).length > 0, 'a selector of all')
    for (const [name, value] of Object.entries(matchLabels)) hold(labels[name] === value, `a selector: ${name}`)
  }
  for (const { targetPort } of of('Service').spec.ports) hold(targetPort === 'http', `the Service has ${targetPort}`)
  for (const { ports: allowed } of of('NetworkPolicy').spec.ingress)
    for (const { port } of allowed) hold(findPort(port) !== undefined, `a policy for ${port}`)

  hold(pod.securityContext.runAsNonRoot === true && pod.automountServiceAccountToken === false, 'root, or a token')
  const confined = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }
  for (const container of [gate, ...pod.initContainers]) {
    hold(isDeepStrictEqual(container.securityContext, confined), 'a container is not confined')
    const volumes = pod.volumes.map((volume: { name: string }) => volume.name)
    for (const { name } of container.volumeMounts) hold(volumes.includes(name), `no volume ${name}`)
  }
  const mounted = gate.volumeMounts.map(({ mountPath }) => mountPath)
  for (const path of [config.dataDir, '/etc/sallyport']) hold(mounted.includes(path), `nothing is at ${path}`)
  hold(pod.terminationGracePeriodSeconds * 1_000 > config.timeouts.lameDuck + config.timeouts.drain, 'the end')
  return wrong
}

t.test('the base: configuration, ports, probes and selectors are of one another', async (t) => {
  t.same(listFaults(OF_BASE, join(BASE, 'sallyport.yaml')), [])
  t.match(readFileSync(join(ROOT, 'examples/docker/Dockerfile'), 'utf8'), 'WORKDIR /etc/sallyport\n')
  const { initContainers } = find(OF_BASE, 'Deployment').spec.template.spec
  t.equal(initContainers[0].command[0], 'node', 'the image has no shell and no tools')
  const { images } = parse(readText('base/kustomization.yaml'))
  const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/sallyport/package.json'), 'utf8'))
  t.same(images, [{ name: 'sallyport', newTag: version }])
})

const isMissing = (command: string) => spawnSync(command, ['version', '--client']).error !== undefined
const NO_KUBECTL = NO_NEIGHBOURS || (isMissing('kubectl') && 'no kubectl on this machine')
const NO_HELM = NO_NEIGHBOURS || (isMissing('helm') && 'no helm on this machine')

t.test('kustomize builds the base', { skip: NO_KUBECTL }, async (t) => {
  const built = parseManifests(execFileSync('kubectl', ['kustomize', BASE], { encoding: 'utf8' }))
  const config = find(built, 'ConfigMap')
  t.same(config.data, { 'sallyport.yaml': readText('base/sallyport.yaml') })
  const { volumes } = find(built, 'Deployment').spec.template.spec
  t.equal(volumes[0].configMap.name, config.metadata.name, 'another configuration is other pods')
  t.match(config.metadata.name, /^sallyport-\w+$/)
  t.same(listFaults(built, join(BASE, 'sallyport.yaml')), [])
})

t.test('what leads to the gate, or asks it, finds it', async (t) => {
  const service = find(OF_BASE, 'Service')
  const [port] = service.spec.ports
  const [ingress, asking] = ['ingress.yaml', 'ingress-nginx.yaml'].map((name) => parseManifests(readText(name))[0])
  const backend = ingress?.spec.rules[0].http.paths[0].backend.service
  t.same(backend, { name: service.metadata.name, port: { name: port.name } })
  const { 'nginx.ingress.kubernetes.io/auth-url': url = '', ...annotations } = asking?.metadata.annotations ?? {}
  t.equal(url, `http://${service.metadata.name}.default.svc.cluster.local/.sallyport/check`)
  t.equal(port.port, 80)
  const names = annotations['nginx.ingress.kubernetes.io/auth-response-headers']?.toLowerCase().split(/,\s*/)
  t.same(names, VERDICT_NAMES.slice(0, -1), 'and the signature is for an origin of ours')
  const [route] = parseManifests(readText('gateway.yaml'))
  t.same(route?.spec.rules[0].backendRefs, [{ name: service.metadata.name, port: port.port }])
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly additionalProperties?: boolean | undefined
}

t.test('the chart: its values are those of its schema, and all that its templates use', async (t) => {
  const values = parse(readText('chart/values.yaml'))
  const schema: Schema = JSON.parse(readText('chart/values.schema.json'))
  const inSchema = (value: unknown, { properties, additionalProperties }: Schema, path: string): readonly string[] =>
    properties === undefined || typeof value !== 'object'
      ? []
      : Object.entries(value as object).flatMap(([key, inner]) => {
          const known = properties[key]
          if (known === undefined) return additionalProperties === false ? [`${path}${key}`] : []
          return inSchema(inner, known, `${path}${key}.`)
        })
  t.same(inSchema(values, schema, ''), [])
  const templates = readdirSync(join(CHART, 'templates'))
    .map((name) => readText('chart/templates', name))
    .join('\n')
  const used = [...templates.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1).split('.'))
  t.ok(used.length > 10)
  for (const path of used) {
    const value = path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], values)
    t.not(value, undefined, path.join('.'))
  }
  const file = join(t.testdir(), 'sallyport.yaml')
  writeFileSync(file, stringify(values.config))
  t.same(readConfigFrom({ file, env: {} }).warnings, [])
  t.same(values.config, parse(readText('base/sallyport.yaml')), 'the base has the same')
})

t.test('Helm renders the chart', { skip: NO_HELM }, async (t) => {
  execFileSync('helm', ['lint', '--strict', CHART])
  const made = parseManifests(execFileSync('helm', ['template', 'gate', CHART], { encoding: 'utf8' }))
  const config = find(made, 'ConfigMap')
  const file = join(t.testdir(), 'sallyport.yaml')
  writeFileSync(file, config.data?.['sallyport.yaml'] ?? '')
  t.same(listFaults(made, file), [])
  t.ok(spawnSync('helm', ['template', 'gate', CHART, '--set', 'replica=3']).status !== 0, 'an unknown value is refused')
})
