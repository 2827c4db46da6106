import type { JsonObject } from '@backstage/types';

/** An event of a task of a portal. */
export interface TaskEvent {
  id: number;
  type: string;
  body: { message?: string; status?: string; stepId?: string; output?: JsonObject; error?: { message?: string } };
}

/** eventsOf reads the events of a stream, as a browser's EventSource does. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<TaskEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const data = lines.filter((l) => l.startsWith('data:')).map((l) => l.slice(5).trimStart()).join('\n');
      if (data !== '') {
        yield JSON.parse(data) as TaskEvent;
      }
    }
  }
}
