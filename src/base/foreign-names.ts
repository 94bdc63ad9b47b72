/**
 * Names in FairQueue and Graflow, with the corresponding names here. One list for the hints about unknown options, of
 * the configuration, the command line and the library, and for the tables in docs/guide/coming-from.md.
 */

/** A name in FairQueue or Graflow. */
export interface ForeignName {
  readonly of: 'FairQueue' | 'Graflow';
  /** An option of a configuration file, a flag, an option or function of the library, or a metric. */
  readonly kind: 'config' | 'flag' | 'code' | 'metric';
  readonly name: string;
  /** The name here, as a hint shows it after "here it is". */
  readonly ours: string;
}

type Row = readonly [name: string, ours: string];

function rows(of: ForeignName['of'], kind: ForeignName['kind'], list: readonly Row[]) {
  return list.map(([name, ours]): ForeignName => ({ of, kind, name, ours }));
}

/** All names; each once per kind. */
export const FOREIGN_NAMES: readonly ForeignName[] = [
  ...rows('FairQueue', 'config', [
    ['poll_interval_seconds', 'nothing: workers are woken, and do not poll'],
    ['max_concurrent_tasks', 'worker.concurrency'],
    ['task_timeout_seconds', 'defaults.timeout'],
    ['default_task_timeout', 'defaults.timeout, or queues.<name>.timeout'],
    ['default_max_retries', 'defaults.retries'],
    ['max_retry_attempts', 'defaults.retries'],
    ['graceful_shutdown_timeout', 'worker.grace'],
    ['assigned_users', 'worker.assignedUsers'],
    ['steal_targets', 'worker.stealTargets'],
    ['queue', 'defaults for all queues, queues.<name> for one'],
    ['stats_prefix', 'redis.keyPrefix'],
    ['finished_ttl', 'retention.finished'],
    ['failed_ttl', 'retention.failed'],
    ['canceled_ttl', 'retention.canceled'],
    ['host', 'redis.url'],
    ['port', 'redis.url'],
    ['db', 'redis.url'],
    ['socket_connect_timeout', 'redis.connectTimeout'],
    ['timezone', 'scheduler.timeZone'],
    ['check_interval', 'nothing: schedules fire when they are due'],
    ['log_level', 'logLevel'],
  ]),
  ...rows('FairQueue', 'code', [
    [
      'auto_xcom',
      'nothing: results of upstreams are in ctx.upstream, outputs of a pipeline are inputs',
    ],
    ['execute_after', 'executeAfter'],
    ['max_retries', 'retries'],
    ['depends_on', 'dependsOn'],
    ['user_id', 'user'],
    ['task_id', 'id'],
    ['xcom_ttl_seconds', 'xcom.ttl'],
  ]),
  ...rows('FairQueue', 'metric', [
    ['tasks_active', 'fairloom_tasks{state="started"}'],
    ['tasks_processed', 'fairloom_attempts_total'],
    ['success_rate', 'fairloom_ended_total by state'],
  ]),
  ...rows('Graflow', 'flag', [
    ['--worker-id', '--id'],
    ['--max-concurrent-tasks', '--concurrency'],
    ['--poll-interval', 'nothing: workers are woken, and do not poll'],
    ['--redis-host', '--redis redis://host:port/db'],
    ['--redis-port', '--redis redis://host:port/db'],
    ['--redis-db', '--redis redis://host:port/db'],
    ['--redis-key-prefix', '--prefix; a colon is no part of it: app-workflows for app:workflows'],
  ]),
  ...rows('Graflow', 'code', [
    ['start_node', 'from, of loom.runs.rerun'],
    ['max_steps', 'maxSteps'],
    ['max_cycles', 'maxCycles'],
    ['handler', 'containerTask for the handler "docker", task for "direct"'],
    ['group_name', 'the name of parallel({ … }, { name })'],
    ['inject_context', 'nothing: every handler has ctx as its second argument'],
  ]),
];

/** The hint about an unknown name, if it is in the list. */
export function foreignHint(
  name: string,
  kinds: readonly ForeignName['kind'][],
): string | undefined {
  const found = FOREIGN_NAMES.find((one) => one.name === name && kinds.includes(one.kind));
  return found === undefined ? undefined : `of ${found.of}; here it is ${found.ours}`;
}
