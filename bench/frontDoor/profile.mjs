// Says where the time of CPU profiles (`node --cpu-prof`) went, without their first seconds: profile.mjs FOLDER_OR_FILE [SECONDS]
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { profileText } from '../profile/profileText.mjs';
import { readProfile } from '../profile/readProfile.mjs';

const [, , given, skipS = '0'] = process.argv;
const files = statSync(given).isDirectory() ? readdirSync(given).filter((name) => name.endsWith('.cpuprofile')).map((name) => join(given, name)) : [given];
for (const file of files) console.log(profileText(readProfile(JSON.parse(readFileSync(file, 'utf8')), Number(skipS)), 30, ['groups', 'functions', 'modules', 'within']));
