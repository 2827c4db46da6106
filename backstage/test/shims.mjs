// What some packages of Backstage expect of Node.
import { Buffer as buffer } from 'buffer/index.js';

export const Buffer = buffer;
export const process = { env: {}, nextTick: (run, ...args) => queueMicrotask(() => run(...args)), browser: true, version: '' };
