import { chaosTests } from './chaos-tests.ts';

chaosTests(1_010, 10);
