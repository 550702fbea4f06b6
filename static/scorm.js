// Tells a learning platform how far a lesson was taken, by SCORM 1.2. Part of the package that the page saves.
(function () {
  'use strict';
  function find(from) {
    for (var at = from, most = 0; at && most < 20; at = at.parent === at ? null : at.parent, most++) {
      try { if (at.API) return at.API; } catch (_) { return null; } // another site's
    }
    return null;
  }
  var api = find(window.parent === window ? null : window.parent) || find(window.opener);
  if (!api || String(api.LMSInitialize('')) !== 'true') return;
  var began = Date.now();
  // An attempt that is looked at again does not lose its score.
  var best = Number(api.LMSGetValue('cmi.core.score.raw')) || 0;
  var over = /^(completed|passed)$/.test(api.LMSGetValue('cmi.core.lesson_status'));
  function set(name, value) { api.LMSSetValue('cmi.core.' + name, String(value)); }
  if (!over) set('lesson_status', 'incomplete');
  // The page goes on where the attempt before was left.
  var kept = api.LMSGetValue('cmi.suspend_data');
  if (kept) window.loopscopeResume = String(kept);

  var first = '';
  // The page calls this as it does in a frame (static/host.js): 'step', 'lesson' and 'ended' carry the progress.
  window.loopscopeTell = function (event, detail) {
    var lesson = JSON.parse(detail);
    if (!lesson || !lesson.steps) return;
    // The attempt is of the first lesson; a lesson of one's own has no name, and its title is in the reader's language.
    var is = lesson.lesson + '/' + lesson.steps;
    if (!first) first = is;
    if (is !== first) return;
    set('lesson_location', lesson.step);
    api.LMSSetValue('cmi.suspend_data', JSON.stringify({ lesson: lesson.lesson, title: lesson.title, step: lesson.step, results: lesson.results, answered: lesson.answered }));
    set('score.min', 0);
    set('score.max', 100);
    best = Math.max(best, lesson.asked ? Math.round(100 * lesson.right / lesson.asked) : 0, lesson.over && !lesson.asked ? 100 : 0);
    set('score.raw', best);
    if (lesson.over) over = true;
    set('lesson_status', over ? 'completed' : 'incomplete');
    api.LMSCommit('');
  };

  var finished = false;
  addEventListener('pagehide', function () {
    if (finished) return;
    finished = true;
    var seconds = Math.round((Date.now() - began) / 1000);
    function two(number) { return String(number).padStart(2, '0'); }
    set('session_time', [two(Math.floor(seconds / 3600)), two(Math.floor(seconds / 60) % 60), two(seconds % 60)].join(':'));
    set('exit', over ? '' : 'suspend');
    api.LMSCommit('');
    api.LMSFinish('');
  });
})();
