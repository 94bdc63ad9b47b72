import type { Fairloom } from '../../client/client.ts';
import type { UserSelection } from '../../client/facades/user-selection.ts';
import { type InvalidOptionError, isOwn } from '../../domain/errors/errors.ts';
import type { MonitoringOptions, MonitoringServer } from '../../metrics/monitoring-server.ts';
import type { Prometheus } from '../../metrics/prometheus.ts';
import { CliError, EXIT } from './exit-code.ts';
import type { FlagValues } from './session.ts';

/** Flag and help of the option that gives users figures of their own. */
export const METRICS_USERS = [
  '--metrics-users <which>',
  'users with figures of their own: none, all, top:<n>, or a name; may be repeated; default: none',
] as const;

/** Flag and help of the option that names the server of probes. */
export const HEALTH_HOSTS = [
  '--health-allow-host <name>',
  'a public name by which /readyz and /metrics are asked, without a port; may be repeated',
] as const;

/** What that option says, for the configuration. */
export function metricsFlag(users: readonly string[] | undefined): FlagValues {
  if (users === undefined) return {};
  const [first = ''] = users;
  // One alone that begins like a selection is none with a slip, never a user.
  const isWord = users.length === 1 && /^(none$|all$|top:)/.test(first);
  return { users: { flag: '--metrics-users', value: isWord ? first : users } };
}

/**
 * Figures of a process that the command line starts; `undefined` when they are served nowhere, or
 * without the package for them. A Fairloom of a module has its own, or none.
 */
export async function figuresFor(
  healthPort: number | undefined,
  exported: { readonly loom?: Fairloom | undefined },
  users: UserSelection | undefined,
): Promise<Prometheus | undefined> {
  if (healthPort === undefined || exported.loom !== undefined) return undefined;
  try {
    const client = await import('prom-client');
    const { prometheus } = await import('../../metrics/prometheus.ts');
    return prometheus({ client, users });
  } catch (error) {
    if (String(error).includes('prom-client')) return undefined;
    throw error;
  }
}

/** Answers probes and scrapes; what to tell the reader about it is part of the answer. */
export async function monitor(
  loom: Fairloom,
  port: number,
  { metrics, allowHosts }: Pick<MonitoringOptions, 'metrics' | 'allowHosts'>,
): Promise<{ readonly server: MonitoringServer; readonly text: string }> {
  const { serveMonitoring } = await import('../../metrics/monitoring-server.ts');
  try {
    const server = await serveMonitoring(loom, { port, metrics, allowHosts });
    const pages = metrics === undefined ? '/livez and /readyz' : '/livez, /readyz and /metrics';
    const hint = metrics === undefined ? '; npm install prom-client for /metrics' : '';
    return { server, text: `${pages} on port ${server.port}${hint}` };
  } catch (error) {
    await loom.close({ timeout: 0 });
    if (isOwn<InvalidOptionError>(error, 'INVALID_OPTION')) {
      throw new CliError(EXIT.usage, `--health-allow-host: ${error.message}`);
    }
    throw new CliError(EXIT.failed, `port ${port} cannot be listened on: ${String(error)}`);
  }
}
