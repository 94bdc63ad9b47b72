/** Errors as users meet them: from real calls where a line brings them about, else made. */

import { failure } from '../../../src/backends/redis/connection/failures.ts';
import { checkPrefix } from '../../../src/backends/redis/wire/keys.ts';
import * as errors from '../../../src/domain/errors/errors.ts';
import {
  call,
  type ErrorCode,
  Fairloom,
  memory,
  parallel,
  parseNotation,
  ref,
  task,
} from '../../../src/index.ts';

/** By code; or why users never read the message that has it. */
export type ErrorSamples = Readonly<Record<ErrorCode, readonly errors.FairloomError[] | string>>;

const echo = task('echo', async (value: unknown) => value);
const broken = task('broken', { retries: 0 }, async (_value: unknown) => {
  throw new Error('no paper');
});
const failed = {
  why: { type: 'attempts', failure: 'error', made: 1, of: 1 },
  error: { name: 'Error', message: 'no paper' },
} as const;

export async function errorSamples(): Promise<ErrorSamples> {
  const called = await errorsOf(calls());
  const ofCode = (code: ErrorCode): readonly errors.FairloomError[] =>
    called.filter((error) => error.code === code);
  return {
    INVALID_OPTION: ofCode('INVALID_OPTION'),
    INVALID_CONFIG: [
      new errors.ConfigError([
        { source: 'fairloom.yaml:2:3', path: 'redis.url', expected: 'an address', got: '7' },
      ]),
    ],
    INVALID_PAYLOAD: ofCode('INVALID_PAYLOAD'),
    INVALID_RESULT: [new errors.InvalidResultError('$.at', 'NaN is no JSON number')],
    DECRYPTION_FAILED: (['unknown-key', 'altered', 'unreadable', 'not-encrypted'] as const).map(
      (problem) => new errors.DecryptionError(problem === 'not-encrypted' ? '' : 'k1', problem),
    ),
    UNKNOWN_TASK: ofCode('UNKNOWN_TASK'),
    UNKNOWN_HANDLER: [new errors.UnknownHandlerError('embed', 'gpu')],
    UNKNOWN_DEPENDENCY: ofCode('UNKNOWN_DEPENDENCY'),
    CROSS_USER_DEPENDENCY: ofCode('CROSS_USER_DEPENDENCY'),
    DEPENDENCY_CYCLE: ofCode('DEPENDENCY_CYCLE'),
    DEPENDENCY_LIMIT: [new errors.DependencyLimitError('o-7', 10_000)],
    DUPLICATE_NODE: ofCode('DUPLICATE_NODE'),
    NOTATION: ofCode('NOTATION'),
    TASK_CONFLICT: ofCode('TASK_CONFLICT'),
    KEY_TAKEN: ofCode('KEY_TAKEN'),
    QUEUE_FULL: ofCode('QUEUE_FULL'),
    BATCH_REFUSED: ofCode('BATCH_REFUSED'),
    TASK_NOT_FOUND: ofCode('TASK_NOT_FOUND'),
    SCHEDULE_NOT_FOUND: ofCode('SCHEDULE_NOT_FOUND'),
    WRONG_STATE: ofCode('WRONG_STATE'),
    TASK_BUSY: [new errors.TaskBusyError('remove', 'o-7')],
    TASK_FAILED: [new errors.TaskFailedError('o-7', failed.why, failed.error)],
    TASK_CANCELED: [new errors.TaskCanceledError('o-7', { type: 'request' })],
    LEASE_LOST: [new errors.LeaseLostError('o-7')],
    RESULT_TIMEOUT: ofCode('RESULT_TIMEOUT'),
    CLOCK_NOT_DRIVEN: [new errors.ClockNotDrivenError('o-7')],
    GRAPH_NOT_FOUND: [new errors.GraphNotFoundError('c0ffee')],
    GRAPH_EXPIRED: [new errors.GraphExpiredError('c0ffee')],
    GRAPH_EVICTED: [new errors.GraphEvictedError('c0ffee')],
    GRAPH_CORRUPT: [new errors.GraphCorruptError('c0ffee', 'it has another hash')],
    GROUP_FAILED: ofCode('GROUP_FAILED'),
    RUN_FAILED: [new errors.RunFailedError('r-7', { node: 'print', taskId: 'o-7', ...failed })],
    MAX_STEPS: [new errors.MaxStepsError(['print'])],
    MAX_CYCLES: [new errors.MaxCyclesError('print', 10)],
    GOTO_IN_GROUP: [new errors.GotoInGroupError('print', 'again')],
    CONTROL_NOT_RETURNED: [new errors.ControlNotReturnedError('print', ['next', 'again'])],
    GROUP_CHANGED: [new errors.GroupChangedError('both')],
    REPLAY_MISMATCH: [
      new errors.ReplayMismatchError('2'),
      new errors.ReplayMismatchError('2', { before: '1', now: '2' }),
      new errors.ReplayMismatchError('2', { before: undefined, now: '2' }),
      new errors.ReplayMismatchError('2', { before: '2', now: '2' }),
    ],
    WAIT_OPEN: [new errors.WaitOpenError('a sleep', 'a wait for signal approved')],
    WAIT_TIMED_OUT: [new errors.WaitTimedOutError('signal approved')],
    SIGNAL_LIMIT: (['signals', 'signalBytes'] as const).map(
      (limit) => new errors.SignalLimitError('o-7', limit),
    ),
    ASK_NOT_FOUND: [new errors.AskNotFoundError('o-7.mih4k2')],
    ASK_CLOSED: [
      { how: 'answered', at: 0, choice: 'approve', by: 'ann', text: '' } as const,
      ...(['timed-out', 'canceled', 'ended'] as const).map((how) => ({ how, at: 0 })),
    ].map((closing) => new errors.AskClosedError('o-7.mih4k2', closing)),
    NOT_STORED: [new errors.NotStoredError('signal approved')],
    RUN_CANCELED: [new errors.RunCanceledError({ type: 'request', reason: 'no longer needed' })],
    RUN_FORMAT: ofCode('RUN_FORMAT'),
    STREAM_LIMIT: [new errors.StreamLimitError('tokens', 'streams')],
    CHANNEL_LIMIT: [new errors.ChannelLimitError(PLACE, 'channelKeys')],
    CHANNEL_TYPE: [
      new errors.ChannelTypeError(PLACE, 'append'),
      new errors.ChannelTypeError(PLACE, 'add'),
    ],
    XCOM_LIMIT: [new errors.XComLimitError('words', 'xcomWrites')],
    FATAL: 'its text is that of the handler which throws it',
    RETRY_AFTER: 'its text is that of the handler which throws it',
    TIMED_OUT: [new errors.TimedOutError('o-7', 900_000)],
    THREAD_ENDED: [new errors.ThreadEndedError('o-7', new Error('exit code 1'))],
    PROCESS_ENDED: [new errors.ProcessEndedError('o-7', new Error('SIGKILL'))],
    PROGRAM_FAILED: [
      new errors.ProgramFailedError('tr', { exitCode: 2, signal: undefined, stderr: 'no file' }),
      new errors.ProgramFailedError('tr', { exitCode: undefined, signal: 'SIGKILL', stderr: '' }),
    ],
    PROGRAM_NOT_STARTED: [
      new errors.ProgramNotStartedError('tr', 'install it', new Error('spawn tr ENOENT')),
    ],
    CLOSED: ofCode('CLOSED'),
    BACKEND_UNAVAILABLE: [
      failure('open', new Error('connect ECONNREFUSED 127.0.0.1:6379')),
      failure('enqueue', new Error('LOADING Redis is loading the dataset in memory')),
    ],
    BACKEND_FULL: [failure('enqueue', new Error('OOM command not allowed'))],
    BACKEND_UNSUPPORTED: [
      failure('open', new Error('WRONGPASS invalid username-password pair')),
      failure('lease', new Error('ERR user_script:7: attempt to index a nil value')),
    ],
    CORRUPT_RECORD: [
      new errors.CorruptRecordError('task o-7', 'its text cannot be read'),
      failure('reconcile', new Error('WRONGTYPE Operation against a key')),
    ],
    DATA_DAMAGED: [
      new errors.DataDamagedError('./data', [
        'log-00000001-00000001, bytes 96 to 208: 1 commit is gone',
      ]),
    ],
    COPY_REFUSED: [
      new errors.CopyRefusedError(
        'the target is not empty: keys begin with fq:; --overwrite takes them away first',
      ),
      new errors.CopyRefusedError('workers live in the source (w1): stop them, and copy again'),
      new errors.CopyRefusedError('./data is open in another process: stop it, and copy again'),
    ],
  };
}

const PLACE = { channel: 'stats', key: 'words' };

/** What the calls throw, in their order; a call that throws nothing of ours is a mistake here. */
async function errorsOf(
  thunks: AsyncIterable<() => unknown>,
): Promise<readonly errors.FairloomError[]> {
  const found: errors.FairloomError[] = [];
  for await (const thunk of thunks) {
    const error: unknown = await Promise.resolve()
      .then(thunk)
      .then(nothing, (thrown) => thrown);
    if (!(error instanceof errors.FairloomError)) throw new Error(`refused nothing: ${thunk}`);
    found.push(error);
  }
  return found;
}

const nothing = (): undefined => undefined;

/** Calls that are refused, on the embedded backend. */
async function* calls(): AsyncIterable<() => unknown> {
  const loom = new Fairloom({ backend: memory(), tasks: [echo, broken] });
  const strict = new Fairloom({ backend: memory(), requireUser: true });
  const nightly = { task: echo, input: null } as const;
  const twins = [
    call(echo, 1, { id: 'a', dependsOn: ['b'] }),
    call(echo, 1, { id: 'b', dependsOn: ['a'] }),
  ];
  await loom.users.set('full', { maxQueued: 1 });
  await loom.enqueue(echo, 1, { user: 'full' });
  await loom.enqueue(echo, 1, { user: 'ann', id: 'of-ann', idempotencyKey: 'key' });

  yield () => strict.enqueue(echo, 1);
  yield () => loom.enqueue(echo, 1, { id: '~x' });
  yield () => loom.enqueue(echo, 1, { queue: 'a b' });
  yield () => loom.enqueue(echo, 1, { usr: 'ann' } as object);
  yield () => loom.worker().on('task.finish' as 'task.finished', () => undefined);
  yield () => loom.dead.remove({});
  yield () => checkPrefix('app_a:workflows');
  yield () => loom.enqueueByName('echo', { at: new Date(0) });
  yield () => loom.enqueueByName('echo', { at: Number.NaN });
  yield () => loom.enqueueByName('echo', 'x'.repeat(1_048_576));
  yield () => loom.enqueue(echo, 1, { user: 'full' });
  yield () => loom.enqueue(echo, 2, { user: 'ann', id: 'of-ann' });
  yield () => loom.enqueue(echo, 1, { user: 'ann', id: 'of-ann', onDuplicate: 'reject' });
  yield () =>
    loom.enqueue(echo, 1, {
      user: 'ann',
      idempotencyKey: 'key',
      idempotency: { policy: 'reject' },
    });
  yield () => loom.enqueue(echo, 1, { dependsOn: ['o-6'] });
  yield () => loom.enqueue(echo, 1, { user: 'bob', dependsOn: ['of-ann'] });
  yield () => loom.enqueueMany(twins);
  yield () => loom.enqueueMany([call(echo, 1), call(echo, 1, { dependsOn: ['o-6'] })]);
  yield () => new Fairloom(JSON.parse('{"backend":"redis://localhost"}'));
  yield () => loom.run(JSON.parse('{}'), 1);
  yield () => loom.run(ref<typeof echo>('nobody'), 1);
  yield () => loom.run(parallel({ broken }), 1);
  yield () => loom.run(parallel(echo, echo), 1);
  yield () => parseNotation('echo >> (', { echo });
  yield () => loom.tasks.explain('o-6');
  yield () => loom.tasks.redrive('of-ann');
  yield () => loom.schedules.run('nightly');
  yield () => loom.schedules.set('nightly', { ...nightly, cron: '0 0 31 4 *' });
  yield () => loom.schedules.set('nightly', { ...nightly, cron: '@daily', timeZone: 'CET+1' });
  yield () => loom.runs.import(JSON.parse('{}'));
  const handle = await loom.enqueue(echo, 1, { user: 'ann' });
  yield () => handle.result({ timeout: 1 });
  await Promise.all([loom.close(), strict.close()]);
  yield () => loom.enqueue(echo, 1);
}
