import type { XComValues } from '../../attempt/xcom.ts';
import type { SharedBackend } from '../../backends/shared-backend.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId } from '../../domain/fairness/names.ts';
import type { Page } from '../../domain/port/backend.ts';
import { XCOM_NAMESPACE, type XComFact, type XComPlace } from '../../domain/task/xcom.ts';
import type { TaskMaker } from '../../enqueue/task-maker.ts';
import {
  XCOM_PUSH_KEYS,
  type XComKey,
  type XComPulled,
  type XComPushOptions,
  type XComSource,
} from '../../workflow/xcom.ts';
import { xcomKeyOf } from '../../workflow/xcom-key.ts';
import { listed } from './list-cursor.ts';
import { PAGE_KEYS, type PageOptions, pageRequest } from './page.ts';

/** User and namespace of values. */
export interface XComWhere {
  /** User. Default `default`, unless `requireUser` is set. */
  readonly user?: string | undefined;
  /** Namespace, a text of 1–128 bytes. Default `default`. */
  readonly namespace?: string | undefined;
}

const WHERE_KEYS: OptionKeys<XComWhere> = keysOf<XComWhere>()({ user: true, namespace: true });

const { namespace: _namespace, ...USER_KEYS } = WHERE_KEYS;

/** `loom.xcom`: named values of users, outside of tasks. */
export class XComs {
  readonly #connection: SharedBackend;
  readonly #maker: TaskMaker;
  readonly #xcom: XComValues;

  /** @internal */
  constructor(connection: SharedBackend, maker: TaskMaker, xcom: XComValues) {
    this.#connection = connection;
    this.#maker = maker;
    this.#xcom = xcom;
  }

  /**
   * Stores a value, in place of an earlier one; its time counts from now.
   *
   * @throws {@link InvalidPayloadError} for a value that cannot be stored as it is, is too large, or
   * is refused by the schema of the key; {@link InvalidOptionError}.
   */
  push<T>(
    key: string | XComKey<T>,
    value: Exclude<NoInfer<T>, undefined>,
    where?: XComWhere & XComPushOptions,
  ): Promise<void>;
  async push(key: unknown, value: unknown, where: XComWhere & XComPushOptions = {}): Promise<void> {
    checkOptions('xcom.push', where, { ...WHERE_KEYS, ...XCOM_PUSH_KEYS });
    const xcom = this.#xcom;
    const definition = xcomKeyOf(key);
    const place = this.#placeOf(definition.name, where);
    const write = await xcom.pushOf(place, definition, { value, options: where });
    const backend = await this.#connection.open();
    await backend.xcom.write([write]);
  }

  /**
   * The value of a key, or the latest result of a task defined with `xcom: true`; `undefined`
   * without one, or if it has expired.
   */
  pull<K extends XComSource>(of: K, where?: XComWhere): Promise<XComPulled<K>>;
  async pull(key: unknown, where: XComWhere = {}): Promise<unknown> {
    checkOptions('xcom.pull', where, WHERE_KEYS);
    const definition = xcomKeyOf(key);
    const place = this.#placeOf(definition.name, where);
    const backend = await this.#connection.open();
    const [value] = await backend.xcom.read([place]);
    return value === undefined ? undefined : this.#xcom.valueOf(definition, value.text);
  }

  /** Removes a value. */
  async delete(key: XComSource, where: XComWhere = {}): Promise<void> {
    checkOptions('xcom.delete', where, WHERE_KEYS);
    const place = this.#placeOf(xcomKeyOf(key).name, where);
    const { xcom } = await this.#connection.open();
    await xcom.write([{ type: 'delete', place }]);
  }

  /**
   * Facts about the values of one namespace, by key. A page may have fewer rows than requested and
   * still be followed by another.
   */
  async list(options: XComWhere & PageOptions = {}): Promise<Page<XComFact>> {
    checkOptions('xcom.list', options, { ...WHERE_KEYS, ...PAGE_KEYS });
    const page = pageRequest(options);
    const { user, namespace } = this.#placeOf('', options);
    const { xcom } = await this.#connection.open();
    const of = { user, namespace };
    return listed({ list: 'xcom.list', filter: of }, page, (request) => xcom.list(of, request));
  }

  /** Namespaces with values of a user, by name. */
  async namespaces(
    options: Omit<XComWhere, 'namespace'> & PageOptions = {},
  ): Promise<Page<string>> {
    checkOptions('xcom.namespaces', options, { ...USER_KEYS, ...PAGE_KEYS });
    const page = pageRequest(options);
    const { user } = this.#placeOf('', options);
    const { xcom } = await this.#connection.open();
    return listed({ list: 'xcom.namespaces', filter: { user } }, page, (request) =>
      xcom.namespaces(user, request),
    );
  }

  #placeOf(key: string, { user, namespace = XCOM_NAMESPACE }: XComWhere): XComPlace {
    return {
      user: this.#maker.userOf(user),
      namespace: checkId('namespace', namespace),
      key,
    };
  }
}
