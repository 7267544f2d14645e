import { openTestService, testConfig } from '@bubbles/testing/service-under-test.ts';
import { describe, expect, it } from '@jest/globals';
import { meetingsBotGateway, meetingsWith } from '../../service.ts';

const KEYS = { MEDIA_S3_ACCESS_KEY_ID: 'id', MEDIA_S3_SECRET_ACCESS_KEY: 'hush' };
const BUCKET = { ...KEYS, MEDIA_S3_BUCKET: 'recordings', MEDIA_BASE_URL: 'https://media.example.com/files' };
const opened = (environment: Record<string, string>, definition = meetingsBotGateway) =>
  openTestService(definition, { environment }).service;
const isServed = (environment: Record<string, string>) => opened(environment).routes.some(({ spec }) => spec.path === '/media/{key}');

describe('what a service is told of media', () => {
  it('is a folder that it serves, or a bucket that others do', () => {
    expect([isServed({}), isServed(BUCKET), isServed({ ...BUCKET, MEDIA_S3_ENDPOINT: 'http://minio:9000' })]).toEqual([true, false, false]);
  });

  it.each<[string, Record<string, string>]>([
    ['MEDIA_S3_BUCKET: is required, or MEDIA_FOLDER on a machine of your own', { MEDIA_FOLDER: '' }],
    ['MEDIA_BASE_URL: must be an https URL', { MEDIA_BASE_URL: 'http://media.example.com' }],
    ['MEDIA_BASE_URL: must be an https URL, and is required as PUBLIC_BASE_URL is none', { PUBLIC_BASE_URL: 'http://api.example.com' }],
    [
      'MEDIA_S3_ACCESS_KEY_ID: is required with MEDIA_S3_BUCKET; MEDIA_S3_SECRET_ACCESS_KEY: is required with MEDIA_S3_BUCKET; MEDIA_BASE_URL: is required with MEDIA_S3_BUCKET',
      { MEDIA_S3_BUCKET: 'recordings' },
    ],
    ['MEDIA_S3_SECRET_ACCESS_KEY: is required with MEDIA_S3_BUCKET', { ...BUCKET, MEDIA_S3_SECRET_ACCESS_KEY: '' }],
    ['MEDIA_S3_BUCKET: must be the name of a bucket', { ...BUCKET, MEDIA_S3_BUCKET: 'A/b' }],
    ['MEDIA_S3_ENDPOINT: must be an http or https URL without user, query or fragment', { ...BUCKET, MEDIA_S3_ENDPOINT: 's3://x' }],
    ['MEDIA_ALLOW_CIDRS: must be a comma-separated list of networks such as 10.0.0.0/8', { MEDIA_ALLOW_CIDRS: '10.0.0.1' }],
  ])('ends the start with one message: %s', (message, environment) => {
    expect(() => opened(environment)).toThrow(`bad configuration: ${message}`);
  });

  it('may be a link over http on this machine, and in the sandbox', () => {
    for (const url of ['http://localhost:8080', 'http://127.0.0.1:1', 'http://[::1]:1'])
      expect(() => opened({ PUBLIC_BASE_URL: url })).not.toThrow();
    expect(() => opened({ PUBLIC_BASE_URL: 'http://192.168.1.2:8080' }, meetingsWith({ mayBePlain: true }))).not.toThrow();
    expect(testConfig(meetingsBotGateway).values['MEDIA_FOLDER']).toMatch(/media$/);
  });
});
