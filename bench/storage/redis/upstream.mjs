// The simulated upstream, a process of its own: node upstream.mjs SCRIPT…, which it answers by turns. Says where it listens and ends with its parent.
import { importBuilt } from '../../support/places.mjs';

const { startUpstream } = await importBuilt('lab/upstream/upstream.js');
const scripts = process.argv.slice(2);
const { url } = await startUpstream({ scripts, order: 'cycle' });
process.on('disconnect', () => process.exit());
console.log(JSON.stringify({ url }));
