export { stopSharedServices as default } from './globalSetup.mjs';
