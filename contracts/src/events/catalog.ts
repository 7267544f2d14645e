import * as meetingEvents from './meeting-events.ts';
import * as recordingEvents from './recording-events.ts';
import * as serviceEvents from './service-events.ts';

/** Every event between services: the topology job declares their queues, the AsyncAPI document lists them. */
export const EVENTS = [...Object.values(serviceEvents), ...Object.values(recordingEvents), ...Object.values(meetingEvents)];

/** What the outboxes of a publisher may hold. */
export const publishedBy = (publisher: string) => EVENTS.filter((event) => event.publisher === publisher);
