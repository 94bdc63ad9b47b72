/** Configuration from YAML, the environment and code. */

export type { UserSelection } from './client/facades/user-selection.ts';
export { applySettings, fairloomOptions } from './config/apply.ts';
export type {
  Config,
  ConfigInput,
  DataConfig,
  DataInput,
  DefaultsConfig,
  EncryptionConfig,
  EncryptionInput,
  MetricsConfig,
  RedisConfig,
  RedisInput,
  TlsConfig,
  WorkerConfig,
} from './config/config-types.ts';
export type { ConfigOrigin } from './config/given.ts';
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from './config/load.ts';
export { Secret } from './config/secret.ts';
export { type ToYamlOptions, toYaml } from './config/to-yaml.ts';
export { ConfigError, type ConfigProblem } from './domain/errors/errors.ts';
