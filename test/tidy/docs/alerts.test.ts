/** Every alert of ops/ fires where it must and nowhere else, by Prometheus' own checker. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ROOT } from '../../../scripts/run.ts';
import { programPath } from '../../support/processes/programs.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Series, and the alerts that fire by them at some times: all others do not. */
interface Scene {
  readonly name: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly at: readonly string[];
  readonly firing: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const RULES = join(ROOT, 'ops', 'prometheus', 'alerts.yaml');
const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const scenes = parse(
  readFileSync(join(ROOT, 'test', 'fixtures', 'alerts.yaml'), 'utf8'),
) as readonly Scene[];

let promtool: string;
beforeAll(() => {
  promtool = programPath('promtool');
});

it('the rules are what Prometheus takes', () => {
  expect(run('check', 'rules', RULES)).toMatch(/SUCCESS: \d+ rules found/);
});

// F51
describe.each(scenes)('alerts: $name', (scene) => {
  it('those fire that must, and no others', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fairloom-alerts-'));
    try {
      const file = join(folder, 'test.yaml');
      writeFileSync(file, stringify(programmeOf(scene)));
      expect(run('test', 'rules', file)).toMatch(/SUCCESS/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

// F51
it('every alert fires in one scene, and its figures stand in one where none does', () => {
  const fired = new Set(scenes.flatMap(({ firing }) => Object.keys(firing)));
  const quiet = JSON.stringify(
    scenes.filter(({ firing }) => Object.keys(firing).length === 0).map((one) => one.input_series),
  );
  for (const { alert, expr } of rules) {
    expect(fired, alert).toContain(alert);
    for (const [metric] of expr.matchAll(/fairloom_\w+/g)) expect(quiet).toContain(metric);
  }
});

// F51
it('counts are asked of counters', () => {
  for (const { expr } of rules) {
    for (const [, metric] of expr.matchAll(/(?:increase|rate)\((fairloom_\w+)/g)) {
      expect(metric).toMatch(/_(total|bucket|count|sum)$/);
    }
  }
});

/** What promtool reads. */
function programmeOf({ input_series, at, firing }: Scene): object {
  const alert_rule_test = rules.flatMap(({ alert, labels, annotations }) =>
    at.map((eval_time) => {
      const own = firing[alert];
      const fires = {
        exp_labels: { ...labels, ...own },
        exp_annotations: Object.fromEntries(
          Object.entries(annotations).map(([name, text]) => [name, filled(text, own ?? {})]),
        ),
      };
      return { alertname: alert, eval_time, exp_alerts: own === undefined ? [] : [fires] };
    }),
  );
  return {
    rule_files: [RULES],
    evaluation_interval: '1m',
    tests: [{ interval: '1m', input_series, alert_rule_test }],
  };
}

function filled(text: string, labels: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');
}

function run(...args: readonly string[]): string {
  try {
    return execFileSync(promtool, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `FAILED ${stdout}${stderr}`;
  }
}
