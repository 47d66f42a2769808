import { durabilityTests } from '../e2e/support/durability.ts';
import { startProductionTemporal } from './production-temporal.ts';

durabilityTests('production Temporal server on Postgres', (place) =>
  startProductionTemporal({ ...place, log: (line) => console.log(line) }),
);
