/** The mutants that are kept: each breaks a law. Others are made of any file: make.ts. */
import { LAWS as AT_ONCE } from './laws/at-once.ts';
import { LAWS as ATTEMPTS } from './laws/attempts.ts';
import { LAWS as BULK } from './laws/bulk.ts';
import { LAWS as CHANNELS } from './laws/channels.ts';
import { LAWS as DAMAGE } from './laws/damage.ts';
import { LAWS as DEPENDENCIES } from './laws/dependencies.ts';
import { LAWS as EDGES } from './laws/edges.ts';
import { LAWS as FILE } from './laws/file.ts';
import { LAWS as HANDED } from './laws/handed.ts';
import { LAWS as RUNS } from './laws/runs.ts';
import { LAWS as SCHEDULES } from './laws/schedules.ts';
import { LAWS as STREAMS } from './laws/streams.ts';
import { LAWS as TURNS } from './laws/turns.ts';
import { LAWS as WAITS } from './laws/waits.ts';
import { LAWS as XCOM } from './laws/xcom.ts';
import type { Law, Mutant, Topic } from './mutants.ts';

const BY_TOPIC: Readonly<Record<Topic, readonly Law[]>> = {
  'at once': AT_ONCE,
  turns: TURNS,
  attempts: ATTEMPTS,
  dependencies: DEPENDENCIES,
  edges: EDGES,
  runs: RUNS,
  waits: WAITS,
  schedules: SCHEDULES,
  channels: CHANNELS,
  xcom: XCOM,
  streams: STREAMS,
  bulk: BULK,
  handed: HANDED,
  damage: DAMAGE,
  file: FILE,
};

/** Each law, with its topic. */
export const ALL_LAWS: readonly (Law & { readonly topic: Topic })[] = (
  Object.keys(BY_TOPIC) as Topic[]
).flatMap((topic) => BY_TOPIC[topic].map((law) => ({ ...law, topic })));

/** The mutants of all laws. */
export const ALL_MUTANTS: readonly Mutant[] = ALL_LAWS.map(({ law, find, replace, ...rest }) => ({
  ...rest,
  name: `${rest.topic}: ${law} (${rest.file.replace(/^src\//, '')})`,
  changed: (text) => {
    const parts = text.split(find);
    if (parts.length !== 2) throw new Error(`"${law}": found ${parts.length - 1} times`);
    return parts.join(replace);
  },
}));
