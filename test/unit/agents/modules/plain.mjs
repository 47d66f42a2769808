export default (input) => 'plain JavaScript: ' + input;
