import type { UserOptions } from '../../client/facades/settings-options.ts';
import type { UserHistory } from '../../client/facades/user-history.ts';
import type { Percentiles } from '../../domain/series/histogram.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownLength } from '../terminal/moments.ts';
import { shows } from '../terminal/operation-command.ts';
import { fieldLines, type Output } from '../terminal/output.ts';
import type { JsonShapes, UserDetails } from '../views/json-shapes.ts';
import { rowsOf, showFirst } from '../views/select-tasks.ts';
import { noted, type ShownBy } from '../views/shown.ts';
import { settingFields } from '../views/user-settings.ts';
import { userView } from '../views/views.ts';
import { demandSettings } from './queues.ts';

interface OfUser {
  readonly user: string;
  readonly queue?: string;
}

/** `fairloom users …` */
export const USERS: ShownBy = {
  'users.list': shows<Omit<OfUser, 'user'>>(async ({ loom, output, limit, input: { queue } }) => {
    const all = rowsOf((page) => loom.users.list({ ...page, queue }));
    await showFirst(output, all, { limit, view: userView });
    return undefined;
  }),
  'users.get': shows<OfUser>(async ({ loom, output, input: { user, queue } }) => {
    const [found, history] = await Promise.all([
      loom.users.get(user, { queue }),
      loom.users.history(user, { queue }),
    ]);
    if (found === undefined) {
      throw new CliError(EXIT.notFound, `nothing is known about user ${user}`);
    }
    const details = { ...found, history } satisfies JsonShapes['users get'];
    output.one({ json: details, id: found.user, text: userLines(details, output) });
    return undefined;
  }),
  'users.set': shows<OfUser & UserOptions>(async ({ loom, output, input }) => {
    const { user, queue, ...settings } = input;
    demandSettings('users set', settings);
    // The operation answers with the user, of whom nothing may be known once settings are taken back.
    await loom.users.set(user, settings, { queue });
    output.note(`${user} is set`);
    return undefined;
  }),
  'users.pause': noted('user', 'is paused'),
  'users.resume': noted('user', 'is resumed'),
};

function userLines(user: UserDetails, { style }: Output): readonly string[] {
  return fieldLines(
    {
      user: user.user,
      queue: user.queue,
      ...settingFields(user),
      queued: `${user.queued} (very low to critical: ${user.levels.join(' ')})`,
      running: String(user.running),
      later: String(user.later),
      ready: user.ready ? 'yes' : 'no',
      ahead: `${user.ahead.toFixed(3)} turns`,
      ...historyFields(user.history),
    },
    style,
  );
}

function historyFields({
  oldestWaitMs,
  wait,
  run,
  perMinute,
  etaMs,
}: UserHistory): Readonly<Record<string, string | undefined>> {
  const spread = (of: Percentiles | undefined): string | undefined =>
    of && `half within ${shownLength(of.p50)}, 95 % within ${shownLength(of.p95)}`;
  const shown = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : shownLength(ms);
  return {
    'oldest waits': shown(oldestWaitMs),
    waited: spread(wait),
    ran: spread(run),
    starts: perMinute === 0 ? undefined : `${perMinute.toFixed(1)} a minute`,
    'line is over': etaMs === undefined ? undefined : `in about ${shownLength(etaMs)} at that rate`,
  };
}
