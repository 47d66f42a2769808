import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely';
import type { Patience } from './patience.ts';

/** Statements that change nothing when they are sent twice. A word too many only means that one is not repeated. */
const READS = /^\s*(?:select|with)\b/i;
const DOES_MORE =
  /\b(?:insert|update|delete|merge|share|nextval|setval|set_config|pg_notify|pg_(?:try_)?advisory_\w+)\b/i;

/** True for a statement that only reads, takes no lock, and so may be sent again when its answer was lost. */
export function onlyReads(text: string): boolean {
  return READS.test(text) && !DOES_MORE.test(text);
}

/**
 * A driver that waits for a Postgres that is away, where that is safe: before a connection or a transaction begins, and
 * for statements that only read outside of a transaction. A write whose connection broke may have been carried out, so
 * its error is passed on.
 */
export function createPatientDriver(inner: Driver, patiently: Patience): Driver {
  return {
    init: (options) => inner.init(options),
    async acquireConnection() {
      return new PatientConnection(inner, patiently, await patiently(() => inner.acquireConnection()));
    },
    beginTransaction: (connection, settings) => patient(connection).begin(settings),
    commitTransaction: (connection) => patient(connection).end(() => inner.commitTransaction(patient(connection).now)),
    rollbackTransaction: (connection) =>
      patient(connection).end(() => inner.rollbackTransaction(patient(connection).now)),
    releaseConnection: (connection) => patient(connection).release(),
    destroy: (options) => inner.destroy(options),
  };
}

function patient(connection: DatabaseConnection): PatientConnection {
  if (!(connection instanceof PatientConnection)) throw new Error('a connection of another driver');
  return connection;
}

/** Stands for one connection, and for the one that takes its place after it broke. */
class PatientConnection implements DatabaseConnection {
  now: DatabaseConnection;
  private readonly driver: Driver;
  private readonly patiently: Patience;
  private inTransaction = false;
  private released = false;

  constructor(driver: Driver, patiently: Patience, first: DatabaseConnection) {
    this.driver = driver;
    this.patiently = patiently;
    this.now = first;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.inTransaction || !onlyReads(query.sql)) return this.now.executeQuery<R>(query);
    return this.again(() => this.now.executeQuery<R>(query));
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.now.streamQuery<R>(query, chunkSize);
  }

  async begin(settings: TransactionSettings): Promise<void> {
    await this.again(() => this.driver.beginTransaction(this.now, settings));
    this.inTransaction = true;
  }

  async end(finish: () => Promise<void>): Promise<void> {
    this.inTransaction = false;
    await finish();
  }

  async release(): Promise<void> {
    if (this.released) return;
    this.released = true;
    await this.driver.releaseConnection(this.now);
  }

  /** From the second attempt on with another connection: the first one may be the broken one. */
  private async again<T>(operation: () => Promise<T>): Promise<T> {
    let first = true;
    return this.patiently(async () => {
      if (!first) {
        // Before the next one is taken: a pool may hold a single one.
        await this.release();
        this.now = await this.driver.acquireConnection();
        this.released = false;
      }
      first = false;
      return operation();
    });
  }
}
