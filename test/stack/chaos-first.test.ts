import { chaosTests } from './chaos-tests.ts';

chaosTests(1_000, 10);
