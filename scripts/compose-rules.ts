import { z } from 'zod';

const SERVICE = z.object({
  image: z.string().optional(),
  build: z.unknown().optional(),
  command: z.unknown().optional(),
  restart: z.string().optional(),
  healthcheck: z.object({ disable: z.boolean().optional(), test: z.array(z.string()).optional() }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  environment: z.record(z.string(), z.string().nullable()).optional(),
  ports: z.array(z.object({ host_ip: z.string().optional(), published: z.string().optional() })).optional(),
  volumes: z.array(z.object({ type: z.string(), source: z.string().optional() })).optional(),
});
const MODEL = z.object({
  services: z.record(z.string(), SERVICE),
  volumes: z.record(z.string(), z.unknown()).optional(),
});
type Service = z.infer<typeof SERVICE>;

/**
 * What a valid compose file may still get wrong. `model` is the normalised form that `docker compose config --format
 * json` and compose-go print. Empty: nothing found.
 */
export function composeProblems(value: unknown, fileExists: (path: string) => boolean): string[] {
  const model = MODEL.parse(value);
  const names = new Set(Object.keys(model.services));
  const volumes = new Set(Object.keys(model.volumes ?? {}));
  return Object.entries(model.services)
    .flatMap(([name, service]) =>
      [
        ...imageProblems(service),
        ...dependencyProblems(service, model.services),
        ...healthProblems(service, awaitedOf(model.services, name)),
        ...volumeProblems(service, volumes, fileExists),
        ...exposureProblems(service),
        ...secretProblems(service),
      ].map((problem) => `${name}: ${problem}`),
    )
    .concat(names.size === 0 ? ['no services'] : []);
}

function imageProblems(service: Service): string[] {
  if (service.image === undefined) return service.build === undefined ? ['has neither image nor build'] : [];
  const tag = /:([^:/@]+)(@|$)/.exec(service.image)?.[1];
  if (service.image.includes('auto-setup')) return [`${service.image} is deprecated`];
  if (tag === undefined) return [`${service.image} has no tag`];
  // At least MAJOR.MINOR: `latest`, `18` or `24-slim` change under us.
  return /^\d+\.\d+/.test(tag) ? [] : [`${service.image} is not pinned to a version`];
}

function dependencyProblems(service: Service, services: Record<string, Service>): string[] {
  return Object.entries(service.depends_on ?? {}).flatMap(([target, { condition }]) => {
    const other = services[target];
    if (other === undefined) return [`depends on ${target}, which does not exist`];
    if (condition === 'service_healthy' && other.healthcheck === undefined)
      return [`waits for the health of ${target}, which has no health check`];
    if (condition === 'service_started') return [`waits only for the start of ${target}, not for its health or end`];
    return [];
  });
}

function awaitedOf(services: Record<string, Service>, name: string): boolean {
  return Object.values(services).some(
    (service) => service.depends_on?.[name]?.condition === 'service_completed_successfully',
  );
}

/** One-shot: others wait for its end, and it is not restarted after success. */
function healthProblems(service: Service, isAwaited: boolean): string[] {
  const oneShot = isAwaited && !['always', 'unless-stopped'].includes(service.restart ?? 'no');
  if (oneShot) return service.healthcheck === undefined ? [] : ['is one-shot and has a health check'];
  const test = service.healthcheck?.test ?? [];
  const usable = service.healthcheck?.disable !== true && test.length > 0 && test[0] !== 'NONE';
  return [
    ...(usable ? [] : ['has no health check and is not one-shot']),
    ...(service.restart === 'unless-stopped' || service.restart === 'always' ? [] : ['does not restart when it dies']),
  ];
}

function volumeProblems(service: Service, named: ReadonlySet<string>, fileExists: (path: string) => boolean): string[] {
  return (service.volumes ?? []).flatMap(({ type, source }) => {
    if (type === 'volume') {
      if (source === undefined) return ['has an anonymous volume'];
      return named.has(source) ? [] : [`uses volume ${source}, which is not declared`];
    }
    return type === 'bind' && source !== undefined && !fileExists(source)
      ? [`mounts ${source}, which does not exist`]
      : [];
  });
}

function exposureProblems(service: Service): string[] {
  return (service.ports ?? []).flatMap(({ host_ip, published }) =>
    host_ip === '127.0.0.1' || host_ip === '::1' ? [] : [`publishes port ${published ?? '?'} beyond this machine`],
  );
}

/** What stands for the required variables while the file is checked. */
const PLACEHOLDER = 'placeholder0';

/** Puts the placeholder in for `${NAME:?…}` of these variables. */
export function fillRequired(text: string, variables: readonly string[]): string {
  return text.replace(/\$\{(\w+):\?[^}]*\}/g, (whole, name: string) =>
    variables.includes(name) ? PLACEHOLDER : whole,
  );
}

function secretProblems(service: Service): string[] {
  return Object.entries(service.environment ?? {}).flatMap(([name, value]) => {
    const secret = /PASSWORD|PWD|SECRET/.test(name) || /:\/\/[^@/]*:[^@/]*@/.test(value ?? '');
    return secret && !(value ?? '').includes(PLACEHOLDER) ? [`${name} has a default in the file`] : [];
  });
}
