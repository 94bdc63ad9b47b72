/** The files in ops/ parse, and name only what there is: metrics, labels, flags, pages, ports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../../scripts/run.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { METRICS, type MetricSpec } from '../../src/metrics/table.ts';

const FOLDER = join(ROOT, 'ops');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const yamlFiles = files.filter((file) => file.endsWith('.yaml'));

/** Names under which Prometheus shows a metric. */
const SERIES: ReadonlyMap<string, MetricSpec> = new Map(
  Object.values(METRICS).flatMap((spec: MetricSpec) => {
    const name = `fairloom_${spec.name}`;
    const parts = spec.kind === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    return parts.map((part) => [name + part, spec] as const);
  }),
);

/** What ending a worker may take beside its grace, as docs/guide/deployment.md says. */
const STOP_SECONDS = (LIMITS.abortGraceMs + LIMITS.flushMs + LIMITS.goodbyeMs) / 1_000;

/** Labels that a scrape adds, or a histogram has. */
const ADDED = new Set(['instance', 'job', 'le']);

interface Query {
  readonly file: string;
  readonly query: string;
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const alerts = (
  parse(textOf('prometheus/alerts.yaml')) as { groups: readonly { rules: readonly Alert[] }[] }
).groups.flatMap(({ rules }) => rules);
const panels = (JSON.parse(textOf('grafana/fairloom.json')) as { panels: readonly Panel[] }).panels;
const { templating } = JSON.parse(textOf('grafana/fairloom.json')) as {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
const compose = parse(textOf('compose.yaml')) as {
  readonly services: {
    readonly worker: { readonly command: readonly string[]; readonly stop_grace_period: string };
    readonly grafana: { readonly volumes: readonly string[] };
  };
};
const keda = parse(textOf('kubernetes/keda.yaml')) as {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly triggers: readonly {
      readonly metadata: { readonly query: string; threshold: string };
    }[];
  };
};

const queries: readonly Query[] = [
  ...alerts.map(({ expr }) => ({ file: 'prometheus/alerts.yaml', query: expr })),
  ...panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => ({ file: 'grafana/fairloom.json', query: expr })),
  ),
  ...keda.spec.triggers.map(({ metadata }) => ({
    file: 'kubernetes/keda.yaml',
    query: metadata.query,
  })),
];

describe('ops/', () => {
  it.each(yamlFiles)('%s is YAML without errors or warnings', (file) => {
    for (const document of parseAllDocuments(textOf(file))) {
      expect([...('errors' in document ? [...document.errors, ...document.warnings] : [])]).toEqual(
        [],
      );
    }
  });

  it('is listed in its README, file by file', () => {
    const readme = textOf('README.md');
    const listed = [...readme.matchAll(/^\| \[([^\]]+)\]\(\1\)/gm)].map(([, file]) => file);
    const there = files.filter((file) => /\.|Dockerfile/.test(file) && file !== 'README.md');
    expect(listed.sort()).toEqual(there.map((file) => file.replaceAll('\\', '/')).sort());
  });

  it.each(queries)('$file asks for metrics that there are: $query', ({ query }) => {
    const names = [...query.matchAll(/fairloom_[a-z_]+/g)].map(([name]) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect([...SERIES.keys()]).toContain(name);
    const known = new Set(names.flatMap((name) => SERIES.get(name)?.labels ?? []));
    const grouped = [...query.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(
      ([, labels = '']) => labels.split(',').map((label) => label.trim()),
    );
    const matched = [...query.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label);
    for (const label of [...grouped, ...matched]) {
      expect(known.has(label ?? '') || ADDED.has(label ?? ''), `label ${label}`).toBe(true);
    }
    for (const [open, close] of ['()', '{}', '[]']) {
      expect(query.split(open ?? '').length).toBe(query.split(close ?? '').length);
    }
  });

  it('alerts have names of their own, a severity and what to do', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { labels, annotations } of alerts) {
      expect(labels['severity']).toMatch(/^(page|ticket)$/);
      expect(annotations['summary']).toBeTruthy();
      expect(annotations['action']).toBeTruthy();
    }
  });

  it('panels have numbers of their own, and legends by labels of their queries', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(expr).toContain(label);
      }
    }
  });

  // F53
  it('the compose file and the page on deployment give a worker time to drain', () => {
    const { worker } = compose.services;
    const flag = worker.command.indexOf('--grace');
    const grace =
      flag < 0 ? LIMITS.graceMs / 1_000 : Number.parseInt(worker.command[flag + 1] ?? '');
    const given = Number(/^(\d+)s$/.exec(worker.stop_grace_period)?.[1]);
    expect(given).toBeGreaterThanOrEqual(grace + STOP_SECONDS);
    const page = readFileSync(join(ROOT, 'docs', 'guide', 'deployment.md'), 'utf8');
    expect(page).toContain(`\`grace\` and about ${STOP_SECONDS} s more`);
    const [, named] = /`terminationGracePeriodSeconds: (\d+)`/.exec(page) ?? [];
    expect(Number(named)).toBeGreaterThanOrEqual(LIMITS.graceMs / 1_000 + STOP_SECONDS);
    const [, short] = /`--grace (\d+)s`/.exec(page) ?? [];
    expect(Number(short) + STOP_SECONDS).toBeLessThanOrEqual(30);
  });

  // F52
  it('workers show the users that wait longest, and Grafana starts with what shows them', () => {
    const args = JSON.stringify(compose.services.worker.command);
    expect(args).toContain('"--metrics-users","top:20"');
    expect(textOf('kubernetes/worker.yaml')).toMatch(/"--metrics-users",\s+"top:20"/);
    const { volumes } = compose.services.grafana;
    for (const volume of volumes) {
      const [from = ''] = volume.split(':');
      expect(existsSync(join(FOLDER, from)), volume).toBe(true);
    }
    expect(volumes.join('\n')).toContain(':/etc/grafana/provisioning:');
    const { datasources } = parse(textOf('grafana/provisioning/datasources/prometheus.yaml')) as {
      readonly datasources: readonly { readonly type: string; readonly url: string }[];
    };
    expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }]);
    expect(Object.keys(compose.services)).toContain('prometheus');
    const { providers } = parse(textOf('grafana/provisioning/dashboards/fairloom.yaml')) as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const folder = providers[0]?.options.path ?? '';
    expect(volumes.join('\n')).toContain(`./grafana/fairloom.json:${folder}/`);
  });

  // F52
  it('every panel about queues or users goes by what is chosen', () => {
    const names = templating.list.map(({ name }) => name);
    expect(names).toEqual(['datasource', 'queue', 'user']);
    for (const { query } of queries.filter(({ file }) => file.startsWith('grafana/'))) {
      for (const [, metric = '', labels = ''] of query.matchAll(
        /(fairloom_[a-z_]+)(\{[^}]*\})?/g,
      )) {
        for (const label of ['queue', 'user']) {
          const has = SERIES.get(metric)?.labels.includes(label) === true;
          expect(labels.includes(`${label}=~"$${label}"`), `${metric} by ${label}`).toBe(has);
        }
      }
    }
  });

  // F53
  it('the worker is probed on the pages and the port that it serves, and drains in time', () => {
    const { spec } = parse(textOf('kubernetes/worker.yaml')) as {
      spec: {
        template: {
          metadata: { annotations: Record<string, string> };
          spec: {
            terminationGracePeriodSeconds: number;
            containers: readonly [
              {
                args: readonly string[];
                ports: readonly { name: string; containerPort: number }[];
                livenessProbe: { httpGet: { path: string; port: string } };
                readinessProbe: { httpGet: { path: string; port: string } };
              },
            ];
          };
        };
      };
    };
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    const [{ args, ports, livenessProbe, readinessProbe }] = containers;
    const port = Number(args[args.indexOf('--health-port') + 1]);
    const grace = Number(args[args.indexOf('--grace') + 1]?.replace(/s$/, ''));
    expect(ports).toContainEqual({ name: 'monitoring', containerPort: port });
    expect(livenessProbe.httpGet).toEqual({ path: '/livez', port: 'monitoring' });
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'monitoring' });
    expect(spec.template.metadata.annotations['prometheus.io/port']).toBe(String(port));
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(grace + STOP_SECONDS);
    expect(keda.spec.triggers[0]?.metadata.threshold).toBe(args[args.indexOf('--concurrency') + 1]);
  });
});
