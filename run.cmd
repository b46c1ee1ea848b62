@echo off
rem Starts Verbatim on Windows; arguments go to bot.py. run.py does the work.
setlocal
set "launcher=python"
where /q py && set "launcher=py -3"
%launcher% "%~dp0run.py" %*
set "status=%errorlevel%"
if "%status%"=="9009" echo Verbatim needs Python 3.11, 3.12 or 3.13. Install it, then start again. 1>&2
exit /b %status%
