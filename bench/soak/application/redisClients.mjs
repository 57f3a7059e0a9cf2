import { createRequire } from 'node:module';

const { Redis } = createRequire(import.meta.url)('ioredis');
let made = [];

// A client connects as soon as it is made, and again and again: the one place to hear of it.
const { connect } = Redis.prototype;
Redis.prototype.connect = function (...args) {
  if (!redisClients().includes(this)) made.push(new WeakRef(this));
  return connect.apply(this, args);
};

/** Those that are still in memory. */
export function redisClients() {
  made = made.filter((reference) => reference.deref() !== undefined);
  return made.map((reference) => reference.deref());
}
