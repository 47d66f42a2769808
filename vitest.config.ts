import { defineConfig } from 'vitest/config';

/** unit is pure and fast; integration and e2e share one Temporal server and one Postgres (test/services.ts); stack kills servers of its own. */
export default defineConfig({
  test: {
    // One worker less than there are cores is the default: on two cores files would wait for each other's waiting.
    maxWorkers: 3,
    maxConcurrency: 2,
    projects: [
      // Files share a process: loading the modules anew for each took longer than the tests.
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          globalSetup: ['test/scratch.ts'],
          testTimeout: 20_000,
          isolate: false,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/services.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/services.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'stack',
          include: ['test/stack/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
