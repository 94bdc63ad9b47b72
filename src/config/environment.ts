/** Options from the environment: `FAIRLOOM_REDIS_URL` for `redis.url`, and so on. */

import { similarTo } from '../base/similar.ts';
import { type Given, type GivenEntry, type GivenMap, type GivenValue, givenOf } from './given.ts';
import { ROOT } from './options.ts';
import type { Problems } from './problems.ts';
import { optionsOf } from './schema.ts';

/** Path of the file, as `--config`. */
export const FILE_VARIABLE = 'FAIRLOOM_CONFIG';

const PREFIX = 'FAIRLOOM_';

const HOST_VARIABLE = 'REDIS_URL';

/** Path of the option by variable. */
const VARIABLES: ReadonlyMap<string, string> = new Map(
  optionsOf(ROOT).flatMap(({ path, variable }) =>
    variable === undefined ? [] : [[variable, path] as const],
  ),
);

/**
 * The variables that are set and not empty. A name similar to an option is refused; others that
 * begin with `FAIRLOOM_` are ignored: Kubernetes sets some for a service of that name.
 */
export function givenOfEnvironment(env: NodeJS.ProcessEnv, problems: Problems): GivenMap {
  const root: Folder = new Map();
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || value === undefined || value === '') continue;
    const path = VARIABLES.get(variable);
    const origin = { from: 'environment', variable } as const;
    if (path !== undefined) {
      put(root, path.split('.'), { kind: 'value', value, origin, isText: true });
      continue;
    }
    if (variable === FILE_VARIABLE) continue;
    const meant = similarTo(variable, [...VARIABLES.keys(), FILE_VARIABLE]);
    if (meant === undefined) continue;
    const hint = `did you mean ${meant}?`;
    problems.add({ path: '', origin, expected: 'the name of a variable', got: variable, hint });
  }
  return mapOf(root);
}

/**
 * The variable in which hosts provide a Redis server. Its name is not specific to Fairloom, so it
 * is read only if nothing else names a server or another backend.
 */
export function givenOfHost(env: NodeJS.ProcessEnv): Given | undefined {
  const url = env[HOST_VARIABLE];
  if (url === undefined || url === '') return undefined;
  return givenOf({ redis: { url } }, () => ({ from: 'environment', variable: HOST_VARIABLE }));
}

type Folder = Map<string, Folder | GivenValue>;

function put(folder: Folder, [name = '', ...rest]: readonly string[], value: GivenValue): void {
  if (rest.length === 0) {
    folder.set(name, value);
    return;
  }
  const below = folder.get(name);
  const next: Folder = below instanceof Map ? below : new Map();
  folder.set(name, next);
  put(next, rest, value);
}

function mapOf(folder: Folder): GivenMap {
  const entries = [...folder].map(([name, value]): [string, GivenEntry] => {
    const given = value instanceof Map ? mapOf(value) : value;
    return [name, { key: given.origin, given }];
  });
  const origin = entries[0]?.[1].key ?? ({ from: 'default' } as const);
  return { kind: 'map', entries: new Map(entries), origin };
}
