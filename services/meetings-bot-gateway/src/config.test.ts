import { testConfig } from '@bubbles/testing/service-under-test.ts';
import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../test/gateway.ts';
import { meetingsBotGateway } from './service.ts';

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const RECALL = { NOTETAKERS: 'google_meet=recall', RECALL_REGION: 'eu-central-1', RECALL_API_KEY: 'k3y', RECALL_WEBHOOK_SECRET: SECRET };

describe('the settings of providers', () => {
  it('are needed of those that serve a platform, and all that lack are named at once', async () => {
    const environment = { NOTETAKERS: 'google_meet=recall,zoom=attendee,webex=vexa', VEXA_API_KEY: 'k3y' };
    await expect(startGateway({ environment })).rejects.toMatchObject({
      name: 'ConfigError',
      message: [
        'bad configuration: RECALL_URL: is required, since NOTETAKERS names recall, or RECALL_REGION',
        'RECALL_API_KEY: is required, since NOTETAKERS names recall',
        'RECALL_WEBHOOK_SECRET: is required, since NOTETAKERS names recall',
        'ATTENDEE_URL: is required, since NOTETAKERS names attendee',
        'ATTENDEE_API_KEY: is required, since NOTETAKERS names attendee',
        'ATTENDEE_WEBHOOK_SECRET: is required, since NOTETAKERS names attendee',
        'VEXA_URL: is required, since NOTETAKERS names vexa',
        'VEXA_WEBHOOK_SECRET: is required, since NOTETAKERS names vexa',
      ].join('; '),
    });
  });

  it('are not needed of others', async () => {
    const gateway = await startGateway({ environment: { NOTETAKERS: 'google_meet=simulator' } });
    expect(await gateway.runs()).toEqual([]);
    await gateway.stop();
  });

  it.each([
    ['NOTETAKERS', 'google_meet=zoom'],
    ['RECALL_REGION', 'moon-1'],
    ['RECALL_URL', 'ftp://recall'],
    ['RECALL_URL', 'http://us-east-1.recall.ai'],
    ['RECALL_URL', 'https://us-east-1.recall.ai/api/v1/'],
    ['ATTENDEE_URL', 'http://attendee.internal/api/v1'],
    ['RECALL_API_KEY', 'two words'],
    ['RECALL_WEBHOOK_SECRET', 'plain'],
    ['RECALL_WEBHOOK_SECRET', 'whsec_c2hvcnQ='],
    ['RECALL_WEBHOOK_SECRET', `${SECRET},`],
    ['ATTENDEE_WEBHOOK_SECRET', 'not base64!'],
    ['VEXA_WEBHOOK_SECRET', 'short'],
  ])('say what is wrong with %s, and do not repeat it', (name, value) => {
    const reading = () => testConfig(meetingsBotGateway, { ...RECALL, [name]: value });
    expect(reading).toThrow(new RegExp(`^bad configuration: ${name}: `));
    expect(reading).not.toThrow(value);
  });

  it('name several secrets of webhooks, so that one can be changed', () => {
    const older = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
    const { values } = testConfig(meetingsBotGateway, { ...RECALL, RECALL_WEBHOOK_SECRET: `${SECRET}, ${older}` });
    expect(values['RECALL_WEBHOOK_SECRET']).toEqual([Buffer.alloc(24, 1), Buffer.alloc(24, 2)]);
  });
});
