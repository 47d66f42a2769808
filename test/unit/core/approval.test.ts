import { expect, test } from 'vitest';
import { isRefusal } from '../../../src/core/approval.ts';

test.each([
  [false],
  [{ approved: false }],
  [{ approved: 'no' }],
  [{ granted: false, by: 'duty manager' }],
  [{ status: 'Denied' }],
  [{ decision: 'rejected: too dear' }],
  [{ decision: '驳回' }],
  [{ status: 'pending' }],
  [{ error: { kind: 'http_500', message: 'x' } }],
  ['{"approved": false}'],
  ['"denied"'],
  ['false'],
  ['Denied by the duty manager.'],
  ['The request was declined.'],
  ['Approval: not granted'],
  ['No.'],
  ['Error: approval service is down'],
  ['申请已被拒绝。'],
  ['审批中'],
])('no approval: %j', (answer) => {
  expect(isRefusal(answer)).toBe(true);
});

test.each([
  [true],
  [null],
  ['ok'],
  [''],
  ['approved'],
  ['No problem, go ahead.'],
  ['Approved. The refused order of yesterday stays refused.'],
  [{ approved: true, by: 'duty manager', error: null }],
  [{ approved: true, status: 'pending shipment' }],
  [{ status: 'approved', comment: 'denied before' }],
  ['{"approved": true}'],
  ['审批中心已批准'],
])('approval: %j', (answer) => {
  expect(isRefusal(answer)).toBe(false);
});
