import type { SharedBackend } from '../../backends/shared-backend.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import type { SeriesRequest } from '../../domain/port/backend.ts';
import type { SeriesStep } from '../../domain/series/series-steps.ts';
import { momentOption } from '../../schedules/schedule-options.ts';
import { reportOf, type SeriesReport } from './series-report.ts';

/** Range and filter of the series. */
export interface SeriesOptions {
  /** `minute`, kept for a day, or `hour`, kept for 31 days. */
  readonly step: SeriesStep;
  /** Start. Default: the last hour by minutes, the last day by hours. */
  readonly from?: Date | number | undefined;
  /** End. Default now. */
  readonly to?: Date | number | undefined;
  /** Only this queue. */
  readonly queue?: string | undefined;
  /** Only this user. */
  readonly user?: string | undefined;
}

const KEYS: OptionKeys<SeriesOptions> = keysOf<SeriesOptions>()({
  step: true,
  from: true,
  to: true,
  queue: true,
  user: true,
});

/** `loom.series`: counts for each minute of the last day, and each hour of the last month. */
export class Series {
  readonly #connection: SharedBackend;

  /** @internal */
  constructor(connection: SharedBackend) {
    this.#connection = connection;
  }

  /**
   * Counts and percentiles by minute or hour, by the store's clock. `enqueued` and the ends of a
   * queue are exact; waits, runs and users are what processes have sent so far, every 10 s.
   * Percentiles are off by 9 % at most. Expired steps are left out.
   */
  async read(options: SeriesOptions): Promise<SeriesReport> {
    const request = seriesRequest(options);
    const { series } = await this.#connection.open();
    return reportOf(request, await series.read(request));
  }
}

function seriesRequest(options: SeriesOptions): SeriesRequest {
  checkOptions('series.read', options, KEYS);
  const { step, queue, user } = options;
  if (step !== 'minute' && step !== 'hour') {
    throw new InvalidOptionError('step', 'minute or hour', step);
  }
  const from = momentOption('from', options.from);
  const to = momentOption('to', options.to);
  if (from !== undefined && to !== undefined && from >= to) {
    throw new InvalidOptionError('to', 'a moment after from', options.to);
  }
  return {
    step,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(queue === undefined ? {} : { queue: checkName('queue', queue) }),
    ...(user === undefined ? {} : { user: checkId('user', user) }),
  };
}
