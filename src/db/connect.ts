import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { unescapeText } from '../core/storable-text.ts';
import { fromJsonb } from './escape.ts';
import type { Patience } from './patience.ts';
import { createPatientDriver } from './patient-driver.ts';
import type { Database } from './schema.ts';

export type Db = Kysely<Database>;

const OID = { int8: 20, text: 25, numeric: 1700, jsonb: 3802, varchar: 1043, textArray: 1009 } as const;

/** Counts and token sums stay far below 2^53, so bigint and numeric are read as numbers; text and jsonb are unescaped. */
const parsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
    if (oid === OID.int8 || oid === OID.numeric) return Number;
    if (oid === OID.text || oid === OID.varchar) return unescapeText;
    if (oid === OID.jsonb) return fromJsonb;
    const parse = (pg.types.getTypeParser as (oid: number, format: string) => (value: string) => unknown)(
      oid,
      format ?? 'text',
    );
    if (oid === OID.textArray) return (value) => (parse(value) as string[]).map(unescapeText);
    return parse;
  },
};

/** How every connection of ours reads columns. */
export const columnTypes = parsers as unknown as pg.CustomTypesConfig;

export interface ConnectOptions {
  /** Most connections of this process; default 10. */
  poolSize?: number;
  /** Told about connections that died while idle; the next query opens a new one. */
  onConnectionError?: (error: Error) => void;
  /**
   * For connections that live long and write much. Postgres keeps the plan of a foreign-key check for the life of a
   * connection; made while a table was small it reads the whole table, and each row written then costs the more rows
   * there are. Default false.
   */
  alwaysByIndex?: boolean;
  /** Waits for a Postgres that is away, where it is safe. Default: the first failure is passed on. */
  patience?: Patience;
}

/** Opens a pool. No connection is made until the first query. */
export function connect(databaseUrl: string, options: ConnectOptions = {}): Db {
  const dialect = new PostgresDialect({ pool: createPool(databaseUrl, options) });
  const { patience } = options;
  if (patience === undefined) return new Kysely<Database>({ dialect });
  return new Kysely<Database>({
    dialect: {
      createDriver: () => createPatientDriver(dialect.createDriver(), patience),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    },
  });
}

function createPool(databaseUrl: string, options: ConnectOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    types: columnTypes,
    application_name: 'assay',
  });
  const onError = options.onConnectionError ?? (() => undefined);
  pool.on('error', onError);
  // A checked-out client whose backend dies emits its own error; without a listener the process would end.
  pool.on('connect', (client) => {
    client.on('error', onError);
    if (options.alwaysByIndex === true) client.query('set enable_seqscan = off').catch(onError);
  });
  return pool;
}
