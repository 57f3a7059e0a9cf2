// Holds the write lock of a database: node holdLock.mjs FILE MILLISECONDS
import Database from 'better-sqlite3';

const [file, ms] = process.argv.slice(2);
const db = new Database(file);
db.exec('BEGIN IMMEDIATE');
process.stdout.write('locked\n');
setTimeout(() => {
  db.exec('COMMIT');
  db.close();
}, Number(ms));
